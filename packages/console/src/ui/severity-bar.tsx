import { SEVERITY_PLACES, type SeverityCounts, severityWords } from "../lib/severities.ts";
import { ChartLegend, toneClass } from "./chart-legend.tsx";
import styles from "./severity-bar.module.css";

const WIDTH = 1_000;
const GAP = 4;
const MIN = 12;

/** Findings by severity as parts of a bar, with a legend that says the numbers. */
export function SeverityBar({ counts }: { counts: SeverityCounts }) {
  const parts = [
    ...SEVERITY_PLACES.map(([place, word]) => ({ place, word })),
    { place: "other" as const, word: "Other" },
  ]
    .map(({ place, word }) => ({ place, word, count: counts[place] }))
    .filter(({ place, count }) => place !== "other" || count > 0);
  const shown = parts.filter(({ count }) => count > 0);
  const total = shown.reduce((sum, { count }) => sum + count, 0);
  const space = WIDTH - GAP * Math.max(shown.length - 1, 0) - MIN * shown.length;
  let x = 0;
  return (
    <div className={styles.bar}>
      <svg viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" role="img" aria-label={severityWords(counts)}>
        {total === 0 && <rect width={WIDTH} height={8} className={styles.none} />}
        {shown.map(({ place, count }) => {
          const width = MIN + (space * count) / total;
          const at = x;
          x += width + GAP;
          return <rect key={place} x={at} width={width} height={8} className={toneClass(place)} />;
        })}
      </svg>
      <ChartLegend
        entries={parts.map(({ place, word, count }) => ({ name: word, tone: place, value: String(count) }))}
      />
    </div>
  );
}
