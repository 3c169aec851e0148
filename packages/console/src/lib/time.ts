const UNITS: readonly [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ["year", 31_557_600_000],
  ["month", 2_629_800_000],
  ["week", 604_800_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "long" });

/** The distance of an RFC 3339 time from now in words: `3 hours ago`, `in 2 days`, `just now`. */
export function relativeTime(value: string, nowMs: number): string {
  const distanceMs = Date.parse(value) - nowMs;
  if (Number.isNaN(distanceMs)) return value;
  for (const [unit, ms] of UNITS)
    if (Math.abs(distanceMs) >= ms) return words.format(Math.trunc(distanceMs / ms), unit);
  return distanceMs > 0 ? "in a moment" : "just now";
}

/** The time to the second with its zone, in the reader's time zone. */
export function exactTime(value: string): string {
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? value : exact.format(ms);
}
