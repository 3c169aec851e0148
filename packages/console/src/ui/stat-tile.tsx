import type { ReactNode } from "react";
import styles from "./stat-tile.module.css";

export interface StatTileProps {
  label: string;
  /** The number, with its unit; undefined while it is read. */
  value: ReactNode;
  /** What the number is made of, or how it changed. */
  note?: ReactNode;
}

/** A number that a page begins with. */
export function StatTile({ label, value, note }: StatTileProps) {
  return (
    <div className={styles.tile} role="group" aria-label={label}>
      <p className={styles.label}>{label}</p>
      <p className={styles.value}>{value ?? "…"}</p>
      <p className={styles.note}>{note}</p>
    </div>
  );
}

/** Tiles beside each other. */
export function StatTiles({ children }: { children: ReactNode }) {
  return <div className={styles.tiles}>{children}</div>;
}
