import { create, type DescMessage } from "@bufbuild/protobuf";
import {
  type Duration,
  DurationSchema,
  type FieldMask,
  FieldMaskSchema,
  type Timestamp,
  TimestampSchema,
} from "@bufbuild/protobuf/wkt";
import type { FieldViolation } from "../../errors.ts";
import { fail, type Read } from "./read-scalars.ts";

const TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const DURATION = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;
const MIN_SECONDS = -62_135_596_800;
const MAX_SECONDS = 253_402_300_799;
const MAX_DURATION_SECONDS = 315_576_000_000n;
const NANOS = 1_000_000_000;
const OUT_OF_YEARS = "must lie in the years 1 to 9999";
const TOO_LONG = "must be at most 10000 years";

/**
 * The reader of a well-known type whose JSON form is a string. Throws for well-known types that no message of the API
 * uses. Source: ProtoJSON.
 */
export function wellKnownReader(desc: DescMessage): Read {
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return readTimestamp;
    case "google.protobuf.Duration":
      return readDuration;
    case "google.protobuf.FieldMask":
      return readFieldMask;
    default:
      throw new Error(`there is no JSON form for ${desc.typeName} here`);
  }
}

/** Why a time that did not come as text has no JSON form; undefined when it has one. */
export function timestampRule({ seconds, nanos }: Timestamp): string | undefined {
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) return OUT_OF_YEARS;
  return nanos >= 0 && nanos < NANOS ? undefined : "must have nanos from 0 to 999999999";
}

/** Why a duration that did not come as text has no JSON form; undefined when it has one. */
export function durationRule({ seconds, nanos }: Duration): string | undefined {
  if (seconds > MAX_DURATION_SECONDS || seconds < -MAX_DURATION_SECONDS) return TOO_LONG;
  if (nanos <= -NANOS || nanos >= NANOS) return "must have nanos from -999999999 to 999999999";
  const differs = (seconds > 0n && nanos < 0) || (seconds < 0n && nanos > 0);
  return differs ? "must have seconds and nanos of the same sign" : undefined;
}

function readTimestamp(json: unknown, at: string, bad: FieldViolation[]): Timestamp | undefined {
  const parts = typeof json === "string" ? TIME.exec(json) : null;
  if (parts === null) return fail(bad, at, "must be an RFC 3339 time, as 2006-01-02T15:04:05Z");
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const [offsetHour, offsetMinute] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)];
  const offsetMinutes = offsetHour * 60 + offsetMinute;
  const seconds = date.getTime() / 1000 + (parts[8] === "-" ? 60 : -60) * offsetMinutes;
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isDay || hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59)
    return fail(bad, at, "is not a time that exists");
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) return fail(bad, at, OUT_OF_YEARS);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: toNanos(parts[7]) });
}

function readDuration(json: unknown, at: string, bad: FieldViolation[]): Duration | undefined {
  const parts = typeof json === "string" ? DURATION.exec(json) : null;
  if (parts === null) return fail(bad, at, "must be a number of seconds followed by s, as 3600s");
  const seconds = BigInt(parts[2] ?? 0);
  if (seconds > MAX_DURATION_SECONDS) return fail(bad, at, TOO_LONG);
  const nanos = toNanos(parts[3]);
  return create(
    DurationSchema,
    parts[1] === "-" ? { seconds: -seconds, nanos: nanos === 0 ? 0 : -nanos } : { seconds, nanos },
  );
}

function readFieldMask(json: unknown, at: string, bad: FieldViolation[]): FieldMask | undefined {
  if (typeof json !== "string") return fail(bad, at, "must be a string of comma-separated paths");
  return create(FieldMaskSchema, {
    paths: splitPaths(json).map((path) => path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  });
}

/** The paths of a mask's text form; none for an empty text. */
function splitPaths(text: string): string[] {
  return text.trim() === "" ? [] : text.split(",").map((path) => path.trim());
}

function toNanos(decimals: string | undefined): number {
  return decimals === undefined ? 0 : Number(decimals.padEnd(9, "0"));
}
