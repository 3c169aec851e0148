import type { ReactNode } from "react";
import styles from "./side-list.module.css";

/** Links to the sections of settings, beside them; above them on a phone. */
export function SideList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav className={styles.list} aria-label={label}>
      {children}
    </nav>
  );
}
