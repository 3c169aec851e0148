import type { ReactNode } from "react";
import styles from "./trail.module.css";

/** Something that happened. */
export interface TrailStep {
  title: string;
  icon: ReactNode;
  look: "critical" | "success" | "low";
  when?: ReactNode;
  note?: ReactNode;
}

/** What happened, the latest first, along a line. */
export function Trail({ steps }: { steps: readonly TrailStep[] }) {
  return (
    <ol className={styles.trail}>
      {steps.map(({ title, icon, look, when, note }) => (
        <li key={title}>
          <span className={`${styles.icon} ${styles[look]}`} aria-hidden>
            {icon}
          </span>
          <div>
            <p className={styles.title}>
              <b>{title}</b>
              <span>{when}</span>
            </p>
            <p className={styles.note}>{note}</p>
          </div>
        </li>
      ))}
    </ol>
  );
}
