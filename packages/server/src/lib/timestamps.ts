import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

/** The Timestamp of a time in milliseconds since 1970. */
export function timestamp(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1000);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: (ms - seconds * 1000) * 1_000_000 });
}

/**
 * A time in milliseconds since 1970 as civil time in UTC, without a zone and with microseconds:
 * `2026-11-22T08:15:30.123000`. Receivers of registry events parse exactly this form.
 */
export function civilTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000");
}

/** The time of a Timestamp in milliseconds since 1970, rounded up, so that `>=` and `<` comparisons stay correct. */
export function milliseconds(time: Timestamp): number {
  return Number(time.seconds) * 1000 + Math.ceil(time.nanos / 1_000_000);
}

/** The time of a Timestamp in milliseconds since 1970, rounded down, so that `<=` and `>` comparisons stay correct. */
export function wholeMilliseconds(time: Timestamp): number {
  return Number(time.seconds) * 1000 + Math.floor(time.nanos / 1_000_000);
}
