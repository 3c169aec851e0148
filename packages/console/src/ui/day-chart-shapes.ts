/** The values of a day. */
export interface DayValues {
  /** As `2026-11-27`. */
  day: string;
  /** In the order of the series, at least 0; undefined when they are not known. */
  values: readonly number[] | undefined;
  /** What else is to be said of the day, such as that the values are lower bounds. */
  note?: string;
}

/** Days one after the other. */
interface Run {
  from: number;
  length: number;
}

const STEPS = [1, 2, 4, 6, 8, 10];

/** A round number that is not below the largest sum of a day, and even, so that its half is one too. */
export function axisTop(days: readonly DayValues[]): number {
  const largest = Math.max(...days.map(({ values = [] }) => sumOf(values)), 2);
  const power = 10 ** Math.floor(Math.log10(largest));
  const step = STEPS.find((each) => each * power >= largest && (each * power) % 2 === 0);
  return (step ?? 10) * power;
}

/** The days whose values are not known. */
export function unknownRuns(days: readonly DayValues[]): Run[] {
  const runs: Run[] = [];
  for (const [at, { values }] of days.entries()) {
    if (values !== undefined) continue;
    const last = runs.at(-1);
    if (last !== undefined && last.from + last.length === at) last.length += 1;
    else runs.push({ from: at, length: 1 });
  }
  return runs;
}

/** The shape of each series: a step for each known day, one unit wide, on those of the series before it. */
export function stackedPaths(
  days: readonly DayValues[],
  { series, top, height }: { series: number; top: number; height: number },
): string[] {
  const y = (value: number): number => Math.round((height - (height * value) / top) * 100) / 100;
  return Array.from({ length: series }, (_, place) =>
    days
      .flatMap(({ values }, at) => {
        const value = values?.[place] ?? 0;
        if (values === undefined || value === 0) return [];
        const below = sumOf(values.slice(0, place));
        return [`M${at} ${y(below)}V${y(below + value)}h1V${y(below)}z`];
      })
      .join(""),
  );
}

/** The first day of each month, and of the first one what is in view, if there is space for its name. */
export function monthLabels(days: readonly DayValues[]): { at: number; text: string }[] {
  const format = new Intl.DateTimeFormat("en", { month: "short", timeZone: "UTC" });
  const labels = days.flatMap(({ day }, at) =>
    at === 0 || day.endsWith("-01") ? [{ at, text: format.format(new Date(`${day}T00:00:00Z`)) }] : [],
  );
  const least = days.length / 12;
  return labels.filter(({ at }, n) => {
    const next = labels[n + 1]?.at ?? days.length;
    return next - at >= least;
  });
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
