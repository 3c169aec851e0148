import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import { useEffect } from "react";
import styles from "./toasts.module.css";

type Said = { title: string; description?: string };

const manager = Toast.createToastManager();
/** What was said before `Toasts` could show it; undefined from then on. */
let early: Said[] | undefined = [];

/** Says that something was done, or that something that went on in the background went wrong. */
export function say(title: string, description?: string): void {
  const said: Said = { title, ...(description !== undefined && { description }) };
  if (early === undefined) manager.add(said);
  else early.push(said);
}

/** Shows what `say` says, for a few seconds each. */
export function Toasts() {
  // After the effects of the provider, with which it has subscribed to the manager.
  useEffect(() => {
    const waiting = early ?? [];
    early = undefined;
    for (const said of waiting) manager.add(said);
  }, []);
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
