import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PullCoverageSchema } from "@moorage/api/messages";
import { dayText } from "../lib/days.ts";
import { timestamp } from "../lib/timestamps.ts";

/** What statistics cover, as a message. Times in milliseconds and days since 1970. */
export function coverageMessage({
  sinceMs,
  lossyDays,
  lossyCount,
}: {
  sinceMs: number | undefined;
  lossyDays: readonly number[];
  lossyCount: number;
}): MessageInitShape<typeof PullCoverageSchema> {
  return {
    ...(sinceMs !== undefined && { since: timestamp(sinceMs) }),
    lossyDays: lossyDays.map(dayText),
    lossyDayCount: lossyCount,
  };
}
