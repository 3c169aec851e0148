import type { GroupUsage } from "../../api/gen/registry.ts";
import type { DayValues } from "../../ui/day-chart-shapes.ts";

/** What a number was at the end of one day after the other, the earliest first; undefined: not known. */
export type Trend = readonly (number | undefined)[];

/** What each day adds up to. */
export function trendOf(days: readonly DayValues[]): Trend {
  return days.map(({ values }) => values?.reduce((sum, value) => sum + value, 0));
}

/** Bytes that were pulled by day, of all groups; a day of which one group's are not known is not known. */
export function trafficDays(rows: readonly GroupUsage[]): { day: string; bytes: number | undefined }[] {
  const days = new Map<string, number | undefined>();
  for (const { period, trafficBytes } of rows) {
    const before = days.has(period) ? days.get(period) : 0;
    days.set(period, before === undefined || trafficBytes === undefined ? undefined : before + Number(trafficBytes));
  }
  return [...days.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, bytes]) => ({ day, bytes }));
}

/** How the last whole day differs from the one before it, as `+6%`; undefined where that says nothing. */
export function changeOfDay(trend: Trend): string | undefined {
  const [before, last] = [trend.at(-3), trend.at(-2)];
  if (before === undefined || last === undefined || before === 0) return undefined;
  const percent = Math.round((100 * (last - before)) / before);
  return percent === 0 ? "±0%" : `${percent < 0 ? "−" : "+"}${Math.abs(percent)}%`;
}

/** The first and the last known value, and how many days are between them; undefined without two. */
export function endsOf(trend: Trend): { first: number; last: number; days: number } | undefined {
  const known = [...trend.entries()].filter((each): each is [number, number] => each[1] !== undefined);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || first === last) return undefined;
  return { first: first[1], last: last[1], days: last[0] - first[0] };
}
