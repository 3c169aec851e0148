import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import styles from "./toasts.module.css";

const manager = Toast.createToastManager();

/** Says that something was done, or that something that went on in the background went wrong. */
export function say(title: string, description?: string): void {
  manager.add({ title, ...(description !== undefined && { description }) });
}

/** Shows what `say` says, for a few seconds each. */
export function Toasts() {
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className={styles.viewport}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function List() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={styles.toast}>
      <div>
        <Toast.Title className={styles.title} />
        <Toast.Description className={styles.description} />
      </div>
      <Toast.Close className={styles.close} aria-label="Close">
        <X size={16} aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ));
}
