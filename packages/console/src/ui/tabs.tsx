import type { ReactNode } from "react";
import { count } from "../lib/bytes.ts";
import styles from "./tabs.module.css";

/** How many things a tab holds, after its name. */
export function tabCount(value: number | string): ReactNode {
  return <span className={styles.count}>{count(value)}</span>;
}

/** Links to the parts of one thing: router links, so that each part has its own address. */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav className={styles.tabs} aria-label={label}>
      {children}
    </nav>
  );
}
