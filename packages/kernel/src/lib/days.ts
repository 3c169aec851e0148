const DAY_MS = 24 * 3_600_000;

/** The day of UTC in which a time is, in days since 1970. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

/** The beginning of a day, in milliseconds since 1970. */
export function startOf(day: number): number {
  return day * DAY_MS;
}

/** A day as `2026-11-27`. */
export function dayText(day: number): string {
  return new Date(startOf(day)).toISOString().slice(0, 10);
}
