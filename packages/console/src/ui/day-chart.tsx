import { useId } from "react";
import { count } from "../lib/bytes.ts";
import { ChartLegend, type Tone, toneClass } from "./chart-legend.tsx";
import styles from "./day-chart.module.css";
import { axisTop, type DayValues, monthLabels, stackedPaths, unknownRuns } from "./day-chart-shapes.ts";

/** One of the values of each day; they are stacked in this order, the first at the bottom. */
export interface DaySeries {
  name: string;
  tone: Tone;
}

export interface DayChartProps {
  /** What is counted, for those who do not see it. */
  label: string;
  series: readonly DaySeries[];
  /** One after the other without a gap, the earliest first. */
  days: readonly DayValues[];
  /** Has the legend show what all days add up to, instead of the last day. */
  addsUp?: boolean;
}

const HEIGHT = 100;
const LINES = [1, 0.5, 0];

/**
 * Values by day, stacked. Days that are not known are hatched, and not 0. A table says the same to those who do not see
 * it.
 */
export function DayChart({ label, series, days, addsUp = false }: DayChartProps) {
  const hatch = useId();
  const top = axisTop(days);
  const unknown = unknownRuns(days);
  const values = addsUp ? sumsOf(days, series.length) : days.findLast(isKnown)?.values;
  return (
    <figure className={styles.chart}>
      <ChartLegend entries={series.map((each, at) => ({ ...each, value: values && count(values[at] ?? 0) }))} />
      <div className={styles.plot} aria-hidden>
        <div className={styles.axis}>
          {LINES.map((part) => (
            <span key={part}>{count(top * part)}</span>
          ))}
        </div>
        <svg viewBox={`0 0 ${days.length} ${HEIGHT}`} preserveAspectRatio="none" className={styles.area}>
          <Hatch id={hatch} days={days.length} />
          {LINES.map((part) => (
            <path key={part} d={`M0 ${HEIGHT * (1 - part)}H${days.length}`} className={styles.line} />
          ))}
          {stackedPaths(days, { series: series.length, top, height: HEIGHT }).map((path, at) => (
            <path key={series[at]?.name} d={path} className={toneClass(series[at]?.tone ?? "other")} />
          ))}
          {unknown.map(({ from, length }) => (
            <rect key={from} x={from} width={length} height={HEIGHT} fill={`url(#${hatch})`} />
          ))}
          {days.map((day, at) => (
            <rect key={day.day} x={at} width={1} height={HEIGHT} className={styles.day}>
              <title>{`${day.day}: ${wordsOf(series, day)}`}</title>
            </rect>
          ))}
        </svg>
        <svg className={styles.months} height={16}>
          {monthLabels(days).map(({ at, text }) => (
            <text key={text} x={`${(100 * at) / days.length}%`} y={12}>
              {text}
            </text>
          ))}
        </svg>
      </div>
      {unknown.length > 0 && <figcaption className={styles.note}>Hatched: not known</figcaption>}
      <DayTable label={label} series={series} days={days} />
    </figure>
  );
}

/** In the units of the chart, which is stretched: as wide as 3 pixels of one that has 900. */
function Hatch({ id, days }: { id: string; days: number }) {
  const width = days / 150;
  return (
    <defs>
      <pattern id={id} width={width} height={HEIGHT} patternUnits="userSpaceOnUse">
        <rect width={width / 3} height={HEIGHT} className={styles.hatch} />
      </pattern>
    </defs>
  );
}

function isKnown({ values }: DayValues): boolean {
  return values !== undefined;
}

/** What the known days add up to; undefined when none is known. */
function sumsOf(days: readonly DayValues[], length: number): number[] | undefined {
  if (!days.some(isKnown)) return undefined;
  return Array.from({ length }, (_, at) => days.reduce((sum, { values }) => sum + (values?.[at] ?? 0), 0));
}

function DayTable({ label, series, days }: DayChartProps) {
  return (
    <div className="visually-hidden">
      <table aria-label={label}>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">{label}</th>
          </tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <tr key={day.day}>
              <th scope="row">{day.day}</th>
              <td>{wordsOf(series, day)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function wordsOf(series: readonly DaySeries[], { values, note }: DayValues): string {
  const words =
    values === undefined
      ? ["not known"]
      : series.map(({ name }, at) => `${count(values[at] ?? 0)} ${name.toLowerCase()}`);
  return [...words, ...(note === undefined ? [] : [note])].join(", ");
}
