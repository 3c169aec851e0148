import { create } from "@bufbuild/protobuf";
import { type Duration, type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

/** The Timestamp of a time in milliseconds since 1970. */
export function timestamp(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1000);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: (ms - seconds * 1000) * 1_000_000 });
}

/** The Duration of a number of milliseconds, which is not negative. */
export function duration(ms: number): Pick<Duration, "seconds" | "nanos"> {
  return { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1_000_000 };
}

/**
 * A time in milliseconds since 1970 as civil time in UTC, without a zone and with microseconds:
 * `2026-11-22T08:15:30.123000`. Receivers of registry events parse exactly this form.
 */
export function civilTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000");
}

const DAY_MS = 86_400_000;
const MAX_DATES = 1024;
const dates = new Map<number, string>();

/** A time in milliseconds since 1970 as `Date.prototype.toISOString` gives it, in a fifth of its time. */
export function isoTime(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  const inDay = ms - day * DAY_MS;
  const seconds = Math.floor(inDay / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const rest = inDay - seconds * 1_000;
  const zeros = rest < 10 ? "00" : rest < 100 ? "0" : "";
  return `${dateOf(day)}T${two(hours)}:${two(minutes % 60)}:${two(seconds % 60)}.${zeros}${rest}Z`;
}

// The date of a day counted from 1970. Making one takes longer than all the rest of a time's text.
function dateOf(day: number): string {
  const known = dates.get(day);
  if (known !== undefined) return known;
  if (dates.size >= MAX_DATES) dates.clear();
  const text = new Date(day * DAY_MS).toISOString();
  const date = text.slice(0, text.indexOf("T"));
  dates.set(day, date);
  return date;
}

function two(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}

/** The time of a Timestamp in milliseconds since 1970, rounded up, so that `>=` and `<` comparisons stay correct. */
export function milliseconds(time: Timestamp): number {
  return Number(time.seconds) * 1000 + Math.ceil(time.nanos / 1_000_000);
}

/** The time of a Timestamp in milliseconds since 1970, rounded down, so that `<=` and `>` comparisons stay correct. */
export function wholeMilliseconds(time: Timestamp): number {
  return Number(time.seconds) * 1000 + Math.floor(time.nanos / 1_000_000);
}
