import type { ReactNode } from "react";
import styles from "./panel.module.css";

export interface PanelProps {
  title: string;
  /** At the other end of the head, such as a link to all of them. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A card with a head; a table in it reaches its edges. */
export function Panel({ title, actions, children }: PanelProps) {
  return (
    <section className={styles.panel} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}

/** The padding that content without edges of its own has in a panel. */
export function PanelBody({ children }: { children: ReactNode }) {
  return <div className={styles.body}>{children}</div>;
}
