import type { DescMessage } from "@bufbuild/protobuf";
import type { Duration, FieldMask, Timestamp } from "@bufbuild/protobuf/wkt";

// The range of RFC 3339: the years 1 to 9999.
const MIN_TIME_MS = -62_135_596_800_000;
const MAX_TIME_MS = 253_402_300_799_999;
const DAY_MS = 86_400_000;
const MAX_DATES = 1024;
const dates = new Map<number, string>();
let lastTime = { ms: Number.NaN, text: "" };

/** Whether the type has its own JSON form, instead of one key for each field. */
export function isWellKnown(desc: DescMessage): boolean {
  return desc.file.proto.package === "google.protobuf" && desc.name !== "Empty";
}

/**
 * The writer of a type with its own JSON form. Throws for well-known types that no message of the API uses. Source:
 * ProtoJSON and docs/contract.md, "JSON".
 */
export function writeWellKnown(desc: DescMessage): (value: unknown) => string {
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return (value) => writeTimestamp(value as Timestamp);
    case "google.protobuf.Duration":
      return (value) => writeDuration(value as Duration);
    case "google.protobuf.FieldMask":
      return (value) => JSON.stringify((value as FieldMask).paths.map(toCamelCase).join(","));
    case "google.protobuf.Struct":
      // The value of a Struct field is already a plain JSON object.
      return JSON.stringify;
    default:
      throw new Error(`there is no JSON form for ${desc.typeName} here`);
  }
}

function writeTimestamp(time: Timestamp): string {
  return writeTime(Number(time.seconds) * 1000 + Math.floor(time.nanos / 1_000_000));
}

/**
 * Milliseconds since 1970 as RFC 3339 with exactly three decimals and Z. A time outside the years 1 to 9999 is written
 * as the nearest time inside.
 */
export function writeTime(anyMs: number): string {
  const timeMs = Math.min(Math.max(anyMs, MIN_TIME_MS), MAX_TIME_MS);
  if (timeMs === lastTime.ms) return lastTime.text;
  const day = Math.floor(timeMs / DAY_MS);
  const ms = timeMs - day * DAY_MS;
  const clock = `${twoDigits(Math.floor(ms / 3_600_000))}:${twoDigits(Math.floor(ms / 60_000) % 60)}:${twoDigits(Math.floor(ms / 1000) % 60)}`;
  // The last text is cached: a resource that was never updated has the same create and update time.
  lastTime = { ms: timeMs, text: `"${dateOf(day)}T${clock}.${String(1000 + (ms % 1000)).slice(1)}Z"` };
  return lastTime.text;
}

/**
 * The date of a day counted from 1970. Dates are cached: without the cache, they took half the time of writing a page
 * of a list.
 */
function dateOf(day: number): string {
  const known = dates.get(day);
  if (known !== undefined) return known;
  if (dates.size >= MAX_DATES) dates.clear();
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  dates.set(day, date);
  return date;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

function writeDuration(duration: Duration): string {
  const sign = duration.seconds < 0n || duration.nanos < 0 ? "-" : "";
  const seconds = duration.seconds < 0n ? -duration.seconds : duration.seconds;
  if (duration.nanos === 0) return `"${sign}${seconds}s"`;
  const digits = String(Math.abs(duration.nanos)).padStart(9, "0");
  return `"${sign}${seconds}.${digits.endsWith("000000") ? digits.slice(0, 3) : digits.endsWith("000") ? digits.slice(0, 6) : digits}s"`;
}

function toCamelCase(path: string): string {
  return path.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
