import { DeliveryState, SubscriptionSchema } from "@moorage/api/messages";
import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { parentOf } from "@moorage/kernel/lib/uid";
import { type Row, statement } from "@moorage/kernel/store";
import { errorText, withAttempt } from "./attempts.ts";
import type { Outcome, RecordRequest } from "./messages.ts";
import { keysOf } from "../fan-out.ts";
import { subscriptionOf } from "../subscription-rows.ts";
import { QUEUE } from "../queue-options.ts";

const { RETRYING, DELIVERED, DEAD } = DeliveryState;

// These update the row even if nothing in it changes, so that no other process can take the lease until the transaction
// ends.
const holdLease = statement<{ holder: string }>(
  "update subscription_leases set until_time = until_time where subscription = ? and holder = ? returning holder",
);
const endLease = statement<{ holder: string }>(
  "delete from subscription_leases where subscription = ? and holder = ? returning holder",
);
const selectAttempts = statement<{ uid: string; event_id: string; attempts: string }>(
  "select uid, event_id, attempts from deliveries where uid in (select key from json_each(?)) and state = 2",
);
const update =
  statement(`update deliveries set state = cast(j.value ->> 'state' as bigint), step = step + cast(j.value ->> 'steps' as bigint),
  last_status = cast(j.value ->> 'status' as bigint), last_error = j.value ->> 'error', last_latency_ms = cast(j.value ->> 'latency' as bigint),
  next_time = cast(j.value ->> 'next' as bigint), attempts = j.value ->> 'attempts', update_time = ?
  from json_each(?) as j where deliveries.uid = j.key and deliveries.state = 2`);
const takeBack =
  statement(`update deliveries set state = case when step = 0 then 1 else 3 end, tries = tries - 1, update_time = ?
  where uid in (select key from json_each(?)) and state = 2`);
const disableSubscription = statement<Row<"subscriptions">>(
  "update subscriptions set state = 3, state_reason = ?, update_time = ? where uid = ? and state = 1 returning *",
);
const noteHandshake = statement("update subscriptions set allowed_rate = ?, handshake_time = ? where uid = ?");

/**
 * Records the results of attempts while the holder has the lease; also after the lease's end, if no other process has
 * taken it. Results of deliveries that are not being sent any more are ignored. `held`: false when nothing was
 * recorded, because another process has the lease and has recorded the attempts as interrupted.
 */
export const recordOutcomes = command(
  "events.recordOutcomes",
  async (call: Call, request: RecordRequest): Promise<{ held: boolean }> => {
    const { subscription, holder, outcomes, unsent = [], disable, handshake, release = false } = request;
    const { tx, nowMs } = call;
    if ((await (release ? endLease : holdLease)(tx, subscription, holder)).length === 0) return { held: false };
    // Checked here: with the subscription as a condition beside the uids, the database would read all its deliveries.
    const isItsOwn = (uid: string): boolean => parentOf(uid) === subscription;
    const byUid = new Map(outcomes.filter(({ uid }) => isItsOwn(uid)).map((outcome) => [outcome.uid, outcome]));
    if (byUid.size > 0) {
      const sending = await selectAttempts(tx, keysOf(byUid.keys()));
      const changes = sending.flatMap(({ uid, event_id, attempts }) => {
        const outcome = byUid.get(uid);
        return outcome === undefined || (outcome.eventId ?? event_id) !== event_id
          ? []
          : [[uid, changeOf(outcome, attempts)] as const];
      });
      if (changes.length > 0) await update(tx, nowMs, JSON.stringify(Object.fromEntries(changes)));
    }
    if (unsent.length > 0) await takeBack(tx, nowMs, keysOf(unsent.filter(isItsOwn)));
    if (handshake !== undefined) await noteHandshake(tx, handshake.allowedRate, handshake.atMs, subscription);
    if (disable !== undefined) await disableActive(call, subscription, errorText(disable));
    return { held: true };
  },
  QUEUE,
);

/** Disables the subscription if it is active; a paused one stays paused. */
async function disableActive(call: Call, subscription: string, reason: string): Promise<void> {
  const [row] = await disableSubscription(call.tx, reason, call.nowMs, subscription);
  if (row === undefined) return;
  call.emit(SubscriptionSchema, {
    type: "api.events.subscription.updated.v1",
    subject: row.uid,
    group: row.parent,
    isSystem: true,
    body: subscriptionOf(row),
  });
  await audit(call, { method: "events.subscription.disable", resource: row.uid, isSystem: true, details: { reason } });
}

function changeOf({ startMs, latencyMs, status, error: rawError, nextMs }: Outcome, attempts: string) {
  const error = errorText(rawError);
  const [start, latency] = [Math.round(startMs), Math.round(latencyMs)];
  const failed = error !== "";
  const next = failed && nextMs !== undefined ? Math.round(nextMs) : null;
  return {
    state: failed ? (next === null ? DEAD : RETRYING) : DELIVERED,
    steps: failed ? 1 : 0,
    status,
    error,
    latency,
    next,
    attempts: withAttempt(attempts, [start, latency, status, error]),
  };
}
