import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import styles from "./dialog.module.css";

export interface DialogProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  description?: string;
  /** Whether it stands at the side, over the height of the window: details of something in a list. */
  isDrawer?: boolean;
  /** The buttons at the end, the main one last. */
  actions?: ReactNode;
  children?: ReactNode;
}

/** A dialog over the page. Escape and a click beside it close it; the focus goes back to where it was. */
export function Dialog({ isOpen, onClose, title, description, isDrawer = false, actions, children }: DialogProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={`${styles.popup} ${isDrawer ? styles.drawer : ""}`}>
          <Base.Title className={styles.title}>{title}</Base.Title>
          {description !== undefined && (
            <Base.Description className={styles.description}>{description}</Base.Description>
          )}
          <div className={styles.body}>{children}</div>
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
