import type { ReactNode } from "react";
import styles from "./link-button.module.css";

/** A button that looks like a link: opens more about what its text names, on the same page. */
export function LinkButton({ onClick, children, label }: { onClick: () => void; children: ReactNode; label?: string }) {
  return (
    <button type="button" className={styles.link} aria-label={label} onClick={onClick}>
      {children}
    </button>
  );
}
