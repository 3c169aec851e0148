import type { ReactNode } from "react";
import styles from "./toolbar.module.css";

/** Above a list: its search and its filters; `end` stands at the other end. */
export function Toolbar({ children, end }: { children: ReactNode; end?: ReactNode }) {
  return (
    <div className={styles.toolbar}>
      {children}
      {end !== undefined && <div className={styles.end}>{end}</div>}
    </div>
  );
}
