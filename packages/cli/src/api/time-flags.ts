// Times in flags: a date, a time, or how long ago.
import { parseIso8601 } from "@moorage/kernel/lib/iso8601";
import { durationMs } from "../command/duration.ts";
import { UsageFailure } from "../command/failure.ts";

/** A range of milliseconds since 1970, both ends included; a day for a date. */
export interface TimeRange {
  firstMs: number;
  lastMs: number;
}

/** Reads an ISO 8601 date or time, in UTC without a zone, or a duration before now, such as `2h` or `7d`. */
export function timeOfFlag(flag: string, text: string, nowMs = Date.now()): TimeRange {
  const agoMs = durationMs(text);
  if (agoMs !== undefined) return { firstMs: nowMs - agoMs, lastMs: nowMs - agoMs };
  const moment = parseIso8601(text);
  if (moment !== undefined) return moment;
  throw new UsageFailure(
    `must be a date or time such as 2026-01-31 or 2026-01-31T08:30Z, or how long ago, as 2h or 7d, not ${text}`,
    {
      field: flag,
    },
  );
}
