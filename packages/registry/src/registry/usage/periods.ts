import { dayOf, dayText, startOf } from "@moorage/kernel/lib/days";

/** A day or a month of UTC. */
export interface Period {
  /** As `2026-11-27` or `2026-11`. */
  text: string;
  /** Its first day, and the first day after it, in days since 1970. */
  firstDay: number;
  endDay: number;
}

/** The days or months from one time to another, both included, the earliest first; the first `max`. */
export function periodsBetween(isMonthly: boolean, startMs: number, endMs: number, max: number): Period[] {
  const periods: Period[] = [];
  const last = dayOf(endMs);
  for (let day = isMonthly ? firstOfMonth(startMs, 0) : dayOf(startMs); day <= last && periods.length < max;) {
    const endDay = isMonthly ? firstOfMonth(startOf(day), 1) : day + 1;
    const text = dayText(day);
    periods.push({ text: isMonthly ? text.slice(0, "2026-11".length) : text, firstDay: day, endDay });
    day = endDay;
  }
  return periods;
}

/** The first day of the month so many months after the one in which the time is. */
export function firstOfMonth(timeMs: number, months: number): number {
  const date = new Date(timeMs);
  return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months));
}
