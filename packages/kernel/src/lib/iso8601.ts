/**
 * The range that an ISO 8601 text denotes, in milliseconds since 1970, both ends included. A date denotes all its days,
 * so that `end=2026-01-02` includes the second of January. A date-time denotes an instant; a fraction finer than a
 * millisecond is rounded inwards, so that `lastMs` may be `firstMs` - 1.
 */
export interface Moment {
  firstMs: number;
  lastMs: number;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const MAX_LENGTH = 64;

// Calendar, week and ordinal dates, extended and basic; a year, a month or a week alone is valid too.
const DATES: readonly RegExp[] = [
  /^(?<year>\d{4})(?:-(?<month>\d\d)(?:-(?<day>\d\d))?)?$/,
  /^(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)$/,
  /^(?<year>\d{4})-W(?<week>\d\d)(?:-(?<weekday>\d))?$/i,
  /^(?<year>\d{4})W(?<week>\d\d)(?<weekday>\d)?$/i,
  /^(?<year>\d{4})-(?<ordinal>\d{3})$/,
  /^(?<year>\d{4})(?<ordinal>\d{3})$/,
];
const EXTENDED_TIME = /^(\d\d)(?::(\d\d)(?::(\d\d))?)?(?:[.,](\d+))?$/;
const BASIC_TIME = /^(\d\d)(?:(\d\d)(\d\d)?)?(?:[.,](\d+))?$/;
const ZONE = /(?:Z|([+-])(\d\d)(?::?(\d\d))?)$/i;

/**
 * Parses an ISO 8601:2019 date or date-time of the common era: calendar, week and ordinal dates, basic or extended (not
 * mixed), a fraction on the last part of the time, `24:00`, a leap second, and a zone, which defaults to UTC.
 * Lower-case `t` and `z` are accepted as well (RFC 3339). Undefined when the text is none. Source: docs/contract.md,
 * "Tag history".
 */
export function parseIso8601(text: string): Moment | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const cut = text.search(/t/i);
  if (cut < 0) return readDate(text);
  const datePart = text.slice(0, cut);
  const day = readDate(datePart);
  // A time is valid only with a date of one day.
  if (!day || day.lastMs - day.firstMs !== DAY_MS - 1) return undefined;
  const rest = text.slice(cut + 1);
  const zone = ZONE.exec(rest);
  const offsetMs = zone ? readOffset(zone) : 0;
  const time = readTime(zone ? rest.slice(0, zone.index) : rest, datePart.includes("-") ? EXTENDED_TIME : BASIC_TIME);
  if (offsetMs === undefined || !time) return undefined;
  const baseMs = day.firstMs - offsetMs;
  return { firstMs: baseMs + time.firstMs, lastMs: baseMs + time.lastMs };
}

function readDate(text: string): Moment | undefined {
  const found = DATES.find((form) => form.test(text))?.exec(text)?.groups;
  if (!found) return undefined;
  const part = (name: string): number | undefined => (found[name] === undefined ? undefined : Number(found[name]));
  const year = part("year") ?? 0;
  const yearMs = dayMs(year, 0, 1);
  const yearDays = (dayMs(year + 1, 0, 1) - yearMs) / DAY_MS;
  const ordinal = part("ordinal");
  if (ordinal !== undefined)
    return ordinal >= 1 && ordinal <= yearDays ? days(yearMs + (ordinal - 1) * DAY_MS, 1) : undefined;
  const week = part("week");
  if (week !== undefined) return readWeek(year, week, part("weekday"));
  const month = part("month");
  if (month === undefined) return days(yearMs, yearDays);
  if (month < 1 || month > 12) return undefined;
  const monthMs = dayMs(year, month - 1, 1);
  const monthDays = (dayMs(year, month, 1) - monthMs) / DAY_MS;
  const dayOfMonth = part("day");
  if (dayOfMonth === undefined) return days(monthMs, monthDays);
  return dayOfMonth >= 1 && dayOfMonth <= monthDays ? days(monthMs + (dayOfMonth - 1) * DAY_MS, 1) : undefined;
}

/** Week 1 is the one with the fourth of January; weeks begin on Monday. */
function readWeek(year: number, week: number, weekday: number | undefined): Moment | undefined {
  const firstMs = mondayMs(year);
  const weeks = (mondayMs(year + 1) - firstMs) / (7 * DAY_MS);
  if (week < 1 || week > weeks) return undefined;
  const weekMs = firstMs + (week - 1) * 7 * DAY_MS;
  if (weekday === undefined) return days(weekMs, 7);
  return weekday >= 1 && weekday <= 7 ? days(weekMs + (weekday - 1) * DAY_MS, 1) : undefined;
}

function mondayMs(year: number): number {
  const fourthMs = dayMs(year, 0, 4);
  return fourthMs - ((new Date(fourthMs).getUTCDay() + 6) % 7) * DAY_MS;
}

function readTime(text: string, form: RegExp): Moment | undefined {
  const [, hours, minutes, seconds, fraction] = form.exec(text) ?? [];
  if (hours === undefined) return undefined;
  const wholeMs = Number(hours) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS + Number(seconds ?? 0) * 1000;
  const leap = seconds === "60" && minutes === "59" && hours === "23";
  if (Number(minutes ?? 0) > 59 || (Number(seconds ?? 0) > 59 && !leap)) return undefined;
  const unitMs = seconds !== undefined ? 1000n : minutes !== undefined ? 60_000n : 3_600_000n;
  const numerator = BigInt(fraction ?? "0") * unitMs;
  const denominator = 10n ** BigInt(fraction?.length ?? 0);
  if (!leap && (wholeMs > DAY_MS || (wholeMs === DAY_MS && numerator > 0n))) return undefined;
  const flooredMs = wholeMs + Number(numerator / denominator);
  return { firstMs: numerator % denominator === 0n ? flooredMs : flooredMs + 1, lastMs: flooredMs };
}

/** Accepts `+0200` after an extended time as well, which `date +%FT%T%z` prints. */
function readOffset(zone: RegExpExecArray): number | undefined {
  const [, sign, hours = "0", minutes = "0"] = zone;
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === "-" ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS);
}

function dayMs(year: number, month: number, day: number): number {
  // Date.UTC would treat the years 0 to 99 as 1900 to 1999.
  return new Date(0).setUTCFullYear(year, month, day);
}

function days(firstMs: number, count: number): Moment {
  return { firstMs, lastMs: firstMs + count * DAY_MS - 1 };
}
