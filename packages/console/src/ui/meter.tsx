import styles from "./meter.module.css";

export interface MeterProps {
  /** What is used, with its limit, in words. */
  text: string;
  /** What part of the limit that is, from 0; more than 1 fills the bar. Undefined: not known, and no bar. */
  part: number | undefined;
  look?: "plain" | "warning" | "danger";
}

const WIDTH = 100;

/** How much of a limit is used. The words say it; the bar shows it. */
export function Meter({ text, part, look = "plain" }: MeterProps) {
  return (
    <div className={styles.meter}>
      <span className={styles.text}>{text}</span>
      {part !== undefined && (
        <svg viewBox={`0 0 ${WIDTH} 4`} preserveAspectRatio="none" aria-hidden>
          <rect width={WIDTH} height={4} className={styles.rest} />
          <rect width={WIDTH * Math.min(part, 1)} height={4} className={styles[look]} />
        </svg>
      )}
    </div>
  );
}
