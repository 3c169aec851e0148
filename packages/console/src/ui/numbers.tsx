import type { ReactNode } from "react";
import styles from "./numbers.module.css";

/** One of the numbers that a page begins with. */
export interface NumberFact {
  label: string;
  /** The number, or a word. */
  value: ReactNode;
  note?: ReactNode;
}

/** A few facts in one card, each with a line that explains it. */
export function Numbers({ facts }: { facts: readonly NumberFact[] }) {
  return (
    <div className={styles.numbers}>
      {facts.map(({ label, value, note }) => (
        <div key={label} role="group" aria-label={label}>
          <p className={styles.label}>{label}</p>
          <p className={styles.value}>{value}</p>
          <p className={styles.note}>{note}</p>
        </div>
      ))}
    </div>
  );
}
