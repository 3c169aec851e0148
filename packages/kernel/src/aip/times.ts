import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { FieldViolation } from "../errors.ts";

// A Timestamp's range, years 1 to 9999. Source: google/protobuf/timestamp.proto.
const [MIN_SECONDS, MAX_SECONDS] = [-62_135_596_800n, 253_402_300_799n];

/** A violation for each time outside of a Timestamp's range. `times`: by field name. */
export function timeViolations(times: Readonly<Record<string, Timestamp | undefined>>): FieldViolation[] {
  return Object.entries(times).flatMap(([field, time]) =>
    isTime(time) ? [] : [{ field, description: "must be between the years 1 and 9999" }],
  );
}

/** Whether the time is within a Timestamp's range, or absent. */
function isTime(time: Timestamp | undefined): boolean {
  return time === undefined || (time.seconds >= MIN_SECONDS && time.seconds <= MAX_SECONDS);
}
