import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  DeliveriesService,
  DeliverySchema,
  DeliveryState,
  DeliveryStateSchema,
  type ListDeliveriesRequest,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { columnIs, columnIsIfSet, listFound, listOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import type { Condition } from "@moorage/kernel/aip/scope";
import { timeViolations } from "@moorage/kernel/aip/times";
import { duration, milliseconds, timestamp, wholeMilliseconds } from "@moorage/kernel/lib/timestamps";
import { isUid } from "@moorage/kernel/lib/uid";
import { type Call, timeOfDayMs } from "@moorage/kernel/core/call";
import { invalidArgument, notFound } from "@moorage/kernel/errors";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import type { Row } from "@moorage/kernel/store";
import { attemptsOf } from "./attempts.ts";
import { MAX_COUNTED, queryDeliveries } from "./query.ts";
import { REDELIVERABLE, sentAgain } from "./redeliver.ts";

type Delivery = Row<"deliveries">;

const LIST = listOf({
  method: DeliveriesService.method.listDeliveries,
  table: "deliveries",
  defaultOrder: "createTime desc",
  orderBy: sortable("create_time"),
});

export function deliveriesService({ pageTokenKey, eventsPrefix }: ServiceContext): Service<typeof DeliveriesService> {
  const toMessage = (call: Call, row: Delivery): MessageInitShape<typeof DeliverySchema> =>
    messageOf(call, row, eventsPrefix);
  return {
    getDelivery: async (call, { uid }) => toMessage(call, await getDelivery(call, uid)),
    async listDeliveries(call, request) {
      const violations = timeViolations({ start_time: request.startTime, end_time: request.endTime });
      if (DeliveryStateSchema.value[request.state] === undefined)
        violations.push({ field: "state", description: "there is no such state" });
      if (violations.length > 0) throw invalidArgument(...violations);
      let inForce = request;
      const { totalCount, rows, ...rest } = await listFound(
        call,
        pageTokenKey,
        LIST,
        request,
        {
          filters(effective) {
            inForce = effective;
            return filtersOf(effective, eventsPrefix);
          },
        },
        (page) => queryDeliveries(call.tx, { page, isNarrow: isNarrow(inForce), states: statesOf(inForce) }),
        (row, column) => row[column],
      );
      // The query selects all columns of the table.
      return {
        ...rest,
        ...(totalCount <= MAX_COUNTED && { totalCount }),
        deliveries: rows.map((row) => toMessage(call, row as Delivery)),
      };
    },
    async redeliverEvent(call, { uid }) {
      const row = await getDelivery(call, uid);
      // A delivery that waits or is being sent needs no change.
      if (!REDELIVERABLE.has(row.state)) return toMessage(call, row);
      const changes = sentAgain(call);
      await call.tx.updateTable("deliveries").set(changes).where("uid", "=", uid).execute();
      call.wake("deliveries");
      return toMessage(call, { ...row, ...changes });
    },
  };
}

/** Throws NOT_FOUND, also for a delivery of a deleted subscription. */
async function getDelivery(call: Call, uid: string): Promise<Delivery> {
  const row = !isUid(uid)
    ? undefined
    : await call.tx
        .selectFrom("deliveries")
        .selectAll("deliveries")
        .innerJoin("subscriptions", "subscriptions.uid", "deliveries.parent")
        .where("deliveries.uid", "=", uid)
        .executeTakeFirst();
  if (row === undefined) throw notFound(DeliverySchema.typeName, uid);
  return row;
}

function messageOf(call: Call, row: Delivery, eventsPrefix: string): MessageInitShape<typeof DeliverySchema> {
  const attempts = attemptsOf(row.attempts);
  const waits = row.state === DeliveryState.PENDING || row.state === DeliveryState.RETRYING;
  return {
    uid: row.uid,
    eventId: row.event_id,
    eventType: `${eventsPrefix}.${row.event_type}`,
    eventSubject: row.event_subject,
    state: row.state as DeliveryState,
    tries: row.tries,
    lastStatus: row.last_status,
    lastError: row.last_error,
    createTime: timestamp(row.create_time),
    updateTime: timestamp(row.update_time),
    attempts: attempts.map(([startMs, latencyMs, status, error]) => ({
      startTime: timestamp(startMs),
      latency: duration(latencyMs),
      status,
      error,
    })),
    ...(attempts.length > 0 && { lastLatency: duration(row.last_latency_ms) }),
    ...(waits && row.next_time !== null && { nextTryTime: timestamp(timeOfDayMs(call, row.next_time)) }),
  };
}

function filtersOf(
  { eventId, eventType, startTime, endTime }: ListDeliveriesRequest,
  eventsPrefix: string,
): Condition[] {
  // Types are stored without the configured prefix: a type with another prefix matches nothing.
  const isType = eventType.startsWith(`${eventsPrefix}.`);
  return [
    ...columnIsIfSet("event_id", eventId),
    ...(eventType === ""
      ? []
      : [isType ? columnIs("event_type", eventType.slice(eventsPrefix.length + 1)) : sql`1 = 0`]),
    ...(startTime === undefined ? [] : [sql`t.create_time >= ${milliseconds(startTime)}`]),
    ...(endTime === undefined ? [] : [sql`t.create_time <= ${wholeMilliseconds(endTime)}`]),
  ];
}

function statesOf({ state }: ListDeliveriesRequest): DeliveryState[] {
  return state === DeliveryState.UNSPECIFIED ? [] : [state];
}

/** Filters by event or by uid match few deliveries. */
function isNarrow({ eventId, uidp }: ListDeliveriesRequest): boolean {
  return eventId !== "" || (uidp?.ids.length ?? 0) > 0 || (uidp?.ancestorsOf ?? "") !== "";
}
