import type { ListPullsResponse } from "../../api/gen/registry.ts";
import type { FindingDay } from "../../api/gen/vulnerabilities.ts";
import type { DayValues } from "../../ui/day-chart-shapes.ts";

const DAY_MS = 86_400_000;

/** Of how many days pulls are shown, today included. */
const PULL_DAYS = 30;

/** The beginning in UTC of the first day of which pulls are shown. */
export function firstPullDay(nowMs: number): string {
  return `${textOf(nowMs - (PULL_DAYS - 1) * DAY_MS)}T00:00:00Z`;
}

/** Open findings: critical, high, medium, low, and others. */
export function findingDays(days: readonly FindingDay[]): DayValues[] {
  return days.map(({ day, open, incomplete, unknownImages, unknownAtLeast }) => {
    if (open === undefined) return { day, values: undefined };
    const others = [open.negligible, open.none, open.unknown].reduce((sum, each) => sum + Number(each), 0);
    const notes = [
      ...(incomplete ? ["at least"] : []),
      ...(unknownImages > 0 ? [`${unknownAtLeast ? "at least " : ""}${unknownImages} images not known`] : []),
    ];
    return {
      day,
      values: [open.critical, open.high, open.medium, open.low].map(Number).concat(others),
      ...(notes.length > 0 && { note: notes.join(", ") }),
    };
  });
}

/** Pulls: those of days before they were counted are not known; no row since then is none. */
export function pullDays(
  { pulls, coverage }: Pick<ListPullsResponse, "pulls" | "coverage">,
  nowMs: number,
): DayValues[] {
  const counts = new Map(pulls.map(({ day, count }) => [day, Number(count)]));
  const since = coverage?.since?.slice(0, "2026-11-27".length);
  const lossy = new Set(coverage?.lossyDays);
  return Array.from({ length: PULL_DAYS }, (_, at) => {
    const day = textOf(nowMs - (PULL_DAYS - 1 - at) * DAY_MS);
    const isKnown = counts.has(day) || (since !== undefined && day >= since);
    const isPartial = day === since || lossy.has(day);
    return {
      day,
      values: isKnown ? [counts.get(day) ?? 0] : undefined,
      ...(isKnown && isPartial && { note: "at least" }),
    };
  });
}

const textOf = (ms: number): string => new Date(ms).toISOString().slice(0, "2026-11-27".length);
