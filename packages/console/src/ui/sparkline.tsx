import styles from "./sparkline.module.css";
import { sparklineShapes } from "./sparkline-shapes.ts";

export interface SparklineProps {
  /** What it says, in words. */
  label: string;
  /** One after the other, the earliest first; undefined where it is not known. */
  values: readonly (number | undefined)[];
}

const SIZE = { width: 112, height: 28, padding: 2 };

/** A line as small as a word: how a number changed. What is not known is a gap. */
export function Sparkline({ label, values }: SparklineProps) {
  const { line, area, end } = sparklineShapes(values, SIZE);
  if (end === undefined) return null;
  return (
    <svg className={styles.sparkline} viewBox={`0 0 ${SIZE.width} ${SIZE.height}`} role="img" aria-label={label}>
      <path d={area} className={styles.area} />
      <path d={line} className={styles.line} />
      <circle cx={end.x} cy={end.y} r={2} className={styles.end} />
    </svg>
  );
}
