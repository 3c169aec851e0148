import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

/** A Timestamp of milliseconds since 1970. */
export function timestamp(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1000);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: (ms - seconds * 1000) * 1_000_000 });
}

/** Milliseconds since 1970 of a Timestamp, rounded up, so that `>=` keeps its meaning. */
export function milliseconds(time: Timestamp): number {
  return Number(time.seconds) * 1000 + Math.ceil(time.nanos / 1_000_000);
}
