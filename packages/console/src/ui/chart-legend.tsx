import styles from "./chart-legend.module.css";

/** The colors of what charts show: severities, and one for everything else. */
export type Tone = "critical" | "high" | "medium" | "low" | "other" | "accent";

/** The class that fills a shape with the tone. */
export function toneClass(tone: Tone): string | undefined {
  return styles[tone];
}

export interface LegendEntry {
  name: string;
  tone: Tone;
  /** What is shown beside the name. Defaults to nothing. */
  value?: string | undefined;
}

/** What the colors of a chart mean, and its numbers. A chart says the same in words to those who do not see it. */
export function ChartLegend({ entries }: { entries: readonly LegendEntry[] }) {
  return (
    <ul className={styles.legend} aria-hidden>
      {entries.map(({ name, tone, value }) => (
        <li key={name}>
          <svg width={8} height={8}>
            <rect width={8} height={8} rx={2} className={toneClass(tone)} />
          </svg>
          {name} {value !== undefined && <b>{value}</b>}
        </li>
      ))}
    </ul>
  );
}
