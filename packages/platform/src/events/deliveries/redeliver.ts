import type { MessageInitShape } from "@bufbuild/protobuf";
import { DeliveryState, type RedeliverEventsRequest, type RedeliverEventsResponseSchema } from "@moorage/api/messages";
import { timeViolations } from "@moorage/kernel/aip/times";
import type { Call } from "@moorage/kernel/core/call";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { milliseconds, timestamp, wholeMilliseconds } from "@moorage/kernel/lib/timestamps";
import { type RawBuilder, sql } from "kysely";
import { stateIs } from "./query.ts";

/** The states in which a delivery can be sent again: in the others it waits or is being sent. */
export const REDELIVERABLE: ReadonlySet<number> = new Set([
  DeliveryState.RETRYING,
  DeliveryState.DELIVERED,
  DeliveryState.DEAD,
]);
const ENDED: readonly DeliveryState[] = [DeliveryState.DELIVERED, DeliveryState.DEAD];
/** The most deliveries that one call sends again. */
const MAX_DELIVERIES = 10_000;

/** The columns of a delivery that is sent again: its schedule restarts; its attempts stay recorded. */
export function sentAgain({ nowMs, agreedMs }: Call): {
  state: number;
  step: number;
  next_time: number;
  update_time: number;
} {
  return { state: DeliveryState.PENDING, step: 0, next_time: agreedMs, update_time: nowMs };
}

/** Sends the deliveries of a time range again, the oldest first. Throws INVALID_ARGUMENT that names the fields. */
export async function redeliver(
  call: Call,
  request: RedeliverEventsRequest,
): Promise<MessageInitShape<typeof RedeliverEventsResponseSchema>> {
  const { uid, startTime, endTime, states } = request;
  const violations = violationsIn(request);
  if (violations.length > 0 || startTime === undefined) throw invalidArgument(...violations);
  const wanted = states.length === 0 ? ENDED : [...new Set(states)];
  const startMs = milliseconds(startTime);
  const endMs = endTime === undefined ? call.nowMs : wholeMilliseconds(endTime);
  const where = (untilMs: number): RawBuilder<boolean> =>
    sql.join(
      [sql`t.parent = ${uid} and t.create_time >= ${startMs} and t.create_time <= ${untilMs}`, ...stateIs(wanted)],
      sql` and `,
    );
  const timeAt = async (offset: number): Promise<number | undefined> => {
    const {
      rows: [row],
    } = await sql<{ create_time: number }>`select t.create_time from deliveries as t where ${where(endMs)}
      order by t.create_time, t.uid limit 1 offset ${offset}`.execute(call.tx);
    return row?.create_time;
  };
  const [firstMs, beyondMs] = [await timeAt(0), await timeAt(MAX_DELIVERIES)];
  // A call takes all deliveries of a millisecond or none, so that the next call neither repeats nor misses any: a
  // millisecond with more than the limit is taken whole.
  const nextMs = firstMs === undefined || beyondMs === undefined ? endMs + 1 : Math.max(beyondMs, firstMs + 1);
  const { numUpdatedRows } = await call.tx
    .updateTable("deliveries as t")
    .set(sentAgain(call))
    .where(where(Math.min(endMs, nextMs - 1)))
    .executeTakeFirstOrThrow();
  call.wake("deliveries");
  return { count: Number(numUpdatedRows), ...(nextMs <= endMs && { nextStartTime: timestamp(nextMs) }) };
}

function violationsIn({ startTime, endTime, states }: RedeliverEventsRequest): FieldViolation[] {
  const found = timeViolations({ startTime, endTime });
  if (startTime === undefined) found.push({ field: "startTime", description: "is required" });
  if (
    found.length === 0 &&
    startTime !== undefined &&
    endTime !== undefined &&
    wholeMilliseconds(endTime) < wholeMilliseconds(startTime)
  ) {
    found.push({ field: "endTime", description: "must not be before startTime" });
  }
  for (const [at, state] of states.entries()) {
    if (!REDELIVERABLE.has(state))
      found.push({
        field: `states[${at}]`,
        description: "must be RETRYING, DELIVERED or DEAD: others wait, or are being sent",
      });
  }
  return found;
}
