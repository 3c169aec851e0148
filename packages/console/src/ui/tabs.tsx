import type { ReactNode } from "react";
import styles from "./tabs.module.css";

/** Links to the parts of one thing: router links, so that each part has its own address. */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav className={styles.tabs} aria-label={label}>
      {children}
    </nav>
  );
}
