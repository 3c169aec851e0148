import type { ReactNode } from "react";
import styles from "./stat-tile.module.css";

export interface StatTileProps {
  label: string;
  /** The number, with its unit; undefined while it is read. */
  value: ReactNode;
  /** What the number is made of, or how it changed. */
  note?: ReactNode;
  /** How it came to be, beside the number: a sparkline. */
  trend?: ReactNode;
}

/** A number that a page begins with. */
export function StatTile({ label, value, note, trend }: StatTileProps) {
  return (
    <div className={styles.tile} role="group" aria-label={label}>
      <p className={styles.label}>{label}</p>
      <div className={styles.row}>
        <p className={styles.value}>{value ?? "…"}</p>
        {trend}
      </div>
      <p className={styles.note}>{note}</p>
    </div>
  );
}

/** Tiles beside each other. */
export function StatTiles({ children }: { children: ReactNode }) {
  return <div className={styles.tiles}>{children}</div>;
}
