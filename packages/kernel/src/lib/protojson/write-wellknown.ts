import type { DescMessage } from "@bufbuild/protobuf";
import type { Duration, FieldMask, Timestamp } from "@bufbuild/protobuf/wkt";
import { isoTime } from "../timestamps.ts";

// The range of RFC 3339: the years 1 to 9999.
const MIN_TIME_MS = -62_135_596_800_000;
const MAX_TIME_MS = 253_402_300_799_999;
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
  // The last text is cached: a resource that was never updated has the same create and update time.
  lastTime = { ms: timeMs, text: `"${isoTime(timeMs)}"` };
  return lastTime.text;
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
