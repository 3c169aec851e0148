import type { PullCount } from "../../../api/gen/registry.ts";
import { count } from "../../../lib/bytes.ts";
import type { Coverage } from "../../pulls/coverage-note.tsx";
import type { PeriodBar } from "../../../ui/period-bars.tsx";

const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });
const LABEL_EVERY = 5;

/** The days that are shown, each with its pulls as far as they are known. */
export function dayBars(
  days: readonly string[],
  sums: readonly PullCount[],
  coverage: Coverage | undefined,
): PeriodBar[] {
  const pulls = new Map(sums.map((sum) => [sum.day, Number(sum.count)]));
  const since = coverage?.since?.slice(0, 10);
  const lossy = new Set(coverage?.lossyDays);
  // Not all days of which pulls are missing are named: each may be one.
  const isMoreLossy = (coverage?.lossyDayCount ?? 0) > lossy.size;
  return days.map((each, at) => {
    const isKnown = since !== undefined && each >= since;
    const isPartial = each === since || isMoreLossy || lossy.has(each);
    const value = isKnown ? (pulls.get(each) ?? 0) : undefined;
    return {
      id: each,
      label: (days.length - 1 - at) % LABEL_EVERY === 0 ? day.format(Date.parse(each)) : "",
      name: day.format(Date.parse(each)),
      value,
      isPartial,
      text: value === undefined ? "not known" : `${isPartial ? "at least " : ""}${count(value)}`,
    };
  });
}

/** Whether of all of the days all pulls were counted. */
export function isWhole(bars: readonly PeriodBar[]): boolean {
  return bars.every(({ value, isPartial }) => value !== undefined && isPartial !== true);
}
