import type { ReactNode } from "react";
import styles from "./badge.module.css";

export type BadgeLook =
  "plain" | "outline" | "success" | "warning" | "danger" | "critical" | "high" | "medium" | "low" | "accent";

/** A short word on a colored ground; the color never says more than the word. */
export function Badge({ look = "plain", children, title }: { look?: BadgeLook; children: ReactNode; title?: string }) {
  return (
    <span className={`${styles.badge} ${styles[look]}`} title={title}>
      {children}
    </span>
  );
}
