const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const SECONDS = /^\d{1,10}$/;
// Source: RFC 9110 §5.6.7. The name of the day says nothing that the date does not.
const FIXED = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;
const CENTURY_YEARS = 100;
const MAX_AHEAD_YEARS = 50;

/**
 * Milliseconds to wait by a Retry-After header, from 0 to `maxMs`. It has seconds, or a date in one of the three forms
 * of HTTP. Undefined when it is missing or is neither. Source: RFC 9110 §10.2.3.
 */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number, maxMs: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? "";
  const ms = SECONDS.test(text) ? Number(text) * 1000 : (httpDateMs(text, nowMs) ?? Number.NaN) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), maxMs);
}

/**
 * The time of an HTTP date (`Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or
 * `Sun Nov  6 08:49:37 1994`), in milliseconds since 1970. A year of two digits that would be more than 50 years ahead
 * is one that has passed. Undefined for other texts.
 */
export function httpDateMs(text: string, nowMs: number): number | undefined {
  const fixed = FIXED.exec(text);
  if (fixed !== null) return timeOf(Number(fixed[3]), fixed[2], fixed[1], fixed.slice(4));
  const old = RFC_850.exec(text);
  if (old !== null) return timeOf(fullYear(Number(old[3]), nowMs), old[2], old[1], old.slice(4));
  const c = ASCTIME.exec(text);
  return c === null ? undefined : timeOf(Number(c[6]), c[1], c[2], c.slice(3, 6));
}

function fullYear(digits: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = thisYear - (thisYear % CENTURY_YEARS) + digits;
  return year > thisYear + MAX_AHEAD_YEARS ? year - CENTURY_YEARS : year;
}

function timeOf(
  year: number,
  monthName: string | undefined,
  day: string | undefined,
  clock: string[],
): number | undefined {
  const month = MONTHS.indexOf(monthName ?? "");
  const [hours = 0, minutes = 0, seconds = 0] = clock.map(Number);
  // A leap second is the first of the next minute.
  if (month < 0 || hours > 23 || minutes > 59 || seconds > 60) return undefined;
  const date = new Date(Date.UTC(year, month, Number(day), hours, minutes, seconds));
  date.setUTCFullYear(year);
  return date.getUTCMonth() === month || seconds === 60 ? date.getTime() : undefined;
}
