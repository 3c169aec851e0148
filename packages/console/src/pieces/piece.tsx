import type { ReactNode } from "react";
import styles from "./pieces.module.css";

/** A piece by its name, with its states beside each other. */
export function Piece({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className={styles.piece} aria-label={name}>
      <h2>{name}</h2>
      <div className={styles.states}>{children}</div>
    </section>
  );
}
