import type { ReactNode } from "react";
import styles from "./chips.module.css";

/** A tag's name beside the image that it belongs to. */
export function TagChip({ children, href }: { children: ReactNode; href?: string }) {
  if (href === undefined) return <span className={styles.tag}>{children}</span>;
  return (
    <a className={styles.tag} href={href}>
      {children}
    </a>
  );
}

/** A platform, such as amd64. */
export function PlatformChip({ children }: { children: ReactNode }) {
  return <span className={styles.platform}>{children}</span>;
}

/** Chips beside each other. */
export function Chips({ children, title }: { children: ReactNode; title?: string }) {
  return (
    <span className={styles.chips} title={title}>
      {children}
    </span>
  );
}
