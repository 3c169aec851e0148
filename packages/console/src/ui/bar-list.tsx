import type { ReactNode } from "react";
import styles from "./bar-list.module.css";

/** A row of `BarList`. */
export interface Bar {
  id: string;
  label: ReactNode;
  /** At least 0; the longest bar is the largest value. */
  value: number;
  /** The value in words. */
  text: string;
}

const WIDTH = 100;

/** Values beside each other as bars, each with its number. */
export function BarList({ bars }: { bars: readonly Bar[] }) {
  const largest = Math.max(...bars.map(({ value }) => value), 1);
  return (
    <ul className={styles.list}>
      {bars.map(({ id, label, value, text }) => (
        <li key={id}>
          <div>
            <span>{label}</span>
            <span className={styles.value}>{text}</span>
          </div>
          <svg viewBox={`0 0 ${WIDTH} 6`} preserveAspectRatio="none" aria-hidden>
            <rect width={WIDTH} height={6} className={styles.rest} />
            <rect width={(WIDTH * value) / largest} height={6} className={styles.fill} />
          </svg>
        </li>
      ))}
    </ul>
  );
}
