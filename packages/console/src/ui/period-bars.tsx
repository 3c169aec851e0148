import styles from "./period-bars.module.css";

/** The value of a day or a month. */
export interface PeriodBar {
  id: string;
  /** Below the bar, such as `Nov`; empty where there is no space for each. */
  label: string;
  /** The period in words, for the table. */
  name: string;
  /** At least 0; undefined when it is not known, which is shown as such. */
  value: number | undefined;
  /** Whether it may be more than that. */
  isPartial?: boolean;
  /** The value in words. */
  text: string;
}

const HEIGHT = 100;
const LEAST = 1.5;

/**
 * Values over time, a bar each. What is not known is hatched over the whole height, and no bar of no height. A table
 * says the same to those who do not see it.
 */
export function PeriodBars({ label, bars }: { label: string; bars: readonly PeriodBar[] }) {
  const largest = Math.max(...bars.map(({ value = 0 }) => value), 1);
  return (
    <figure>
      <div className={styles.bars} aria-hidden>
        {bars.map(({ id, label: below, name, value, isPartial = false, text }) => (
          <div key={id} className={styles.bar} title={`${name}: ${text}`}>
            {value === undefined ? (
              <div className={styles.unknown} />
            ) : (
              <Column part={value / largest} isPartial={isPartial} />
            )}
            <span className={styles.label}>{below || "\u00a0"}</span>
          </div>
        ))}
      </div>
      <Key bars={bars} />
      <table className="visually-hidden" aria-label={label}>
        <tbody>
          {bars.map(({ id, name, text }) => (
            <tr key={id}>
              <th scope="row">{name}</th>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

function Column({ part, isPartial }: { part: number; isPartial: boolean }) {
  const height = part === 0 ? 0 : Math.max(part * HEIGHT, LEAST);
  return (
    <svg viewBox={`0 0 10 ${HEIGHT}`} preserveAspectRatio="none">
      <rect y={HEIGHT - height} width={10} height={height} className={isPartial ? styles.partial : styles.fill} />
    </svg>
  );
}

function Key({ bars }: { bars: readonly PeriodBar[] }) {
  const isUnknown = bars.some(({ value }) => value === undefined);
  const isPartial = bars.some((bar) => bar.value !== undefined && bar.isPartial);
  if (!isUnknown && !isPartial) return null;
  return (
    <p className={styles.key} aria-hidden>
      {isUnknown && (
        <span>
          <i className={styles.keyUnknown} /> not known
        </span>
      )}
      {isPartial && (
        <span>
          <i className={styles.keyPartial} /> at least
        </span>
      )}
    </p>
  );
}
