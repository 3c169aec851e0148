import type { ReactNode } from "react";
import styles from "./badge.module.css";

export type BadgeLook =
  | "plain"
  | "outline"
  | "success"
  | "warning"
  | "danger"
  | "critical"
  | "high"
  | "medium"
  | "low"
  | "accent";

export interface BadgeProps {
  look?: BadgeLook;
  children: ReactNode;
  title?: string;
  /** Whether it is a name, such as that of a tag, a version or `npm`, which is written as it is. */
  isName?: boolean;
}

/**
 * A short word on a colored ground; the color never says more than the word. Words begin with a capital here, whatever
 * they are within a sentence.
 */
export function Badge({ look = "plain", children, title, isName = false }: BadgeProps) {
  const shown =
    typeof children === "string" && !isName ? children.charAt(0).toUpperCase() + children.slice(1) : children;
  return (
    <span className={`${styles.badge} ${styles[look]}`} title={title}>
      {shown}
    </span>
  );
}
