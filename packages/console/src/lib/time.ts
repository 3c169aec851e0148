const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MAX_RELATIVE_DAYS = 7;
const exact = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "long" });
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
const dayOfYear = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", year: "numeric" });

/**
 * The distance of an RFC 3339 time from now in words: `just now`, `12 min ago`, `3 h ago`, `yesterday`, `in 2 days`.
 * From a week on it is the date, `Nov 9`, with the year when that is another one.
 */
export function relativeTime(value: string, nowMs: number): string {
  const timeMs = Date.parse(value);
  if (Number.isNaN(timeMs)) return value;
  const distanceMs = Math.abs(timeMs - nowMs);
  const isPast = timeMs <= nowMs;
  const words = (text: string): string => (isPast ? `${text} ago` : `in ${text}`);
  if (distanceMs < MINUTE_MS) return isPast ? "just now" : "in a moment";
  if (distanceMs < HOUR_MS) return words(`${Math.trunc(distanceMs / MINUTE_MS)} min`);
  if (distanceMs < DAY_MS) return words(`${Math.trunc(distanceMs / HOUR_MS)} h`);
  const days = Math.trunc(distanceMs / DAY_MS);
  if (days === 1) return isPast ? "yesterday" : "tomorrow";
  if (days <= MAX_RELATIVE_DAYS) return words(`${days} days`);
  const isThisYear = new Date(timeMs).getFullYear() === new Date(nowMs).getFullYear();
  return (isThisYear ? day : dayOfYear).format(timeMs);
}

/** The time to the second with its zone, in the reader's time zone. */
export function exactTime(value: string): string {
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? value : exact.format(ms);
}

/** Whether a time says something: images that are built to be the same twice carry the first second of 1970. */
export function isRecorded(value: string): boolean {
  return Number.isNaN(Date.parse(value)) || Date.parse(value) >= DAY_MS;
}

/** Whether an RFC 3339 time is over. */
export function isPast(value: string): boolean {
  return Date.parse(value) <= Date.now();
}
