import type { FeedSchema, FeedStatementSchema } from "@moorage/api/messages";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Call } from "../core/call.ts";
import { duration, timestamp } from "../lib/timestamps.ts";
import { feedDueMs, isFeedOverdue } from "../security/index.ts";
import type { Row } from "../store/index.ts";

/** A feed as the API answers it. `unmatched`: those of its statements that are about nothing here, if they are asked for. */
export function feedMessage(
  { nowMs }: Pick<Call, "nowMs">,
  row: Row<"feeds">,
  unmatched: MessageInitShape<typeof FeedStatementSchema>[] = [],
): MessageInitShape<typeof FeedSchema> {
  const dueMs = feedDueMs(row);
  const { name, format, licence, address, error } = row;
  return {
    name,
    format,
    licence,
    address,
    error,
    records: BigInt(row.records),
    withdrawn: BigInt(row.withdrawn),
    problems: BigInt(row.problems),
    statements: BigInt(row.statements),
    statementsUnmatched: BigInt(row.statements_unmatched),
    unmatched,
    interval: duration(row.interval_ms),
    isOverdue: isFeedOverdue(row, nowMs),
    ...(dueMs !== undefined && { dueTime: timestamp(dueMs === 0 ? row.create_time : dueMs) }),
    ...(row.success_time !== null && { successTime: timestamp(row.success_time) }),
    ...(row.attempt_time !== null && { attemptTime: timestamp(row.attempt_time) }),
  };
}
