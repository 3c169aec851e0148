import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, statement } from "@moorage/kernel/store";
import { INTERRUPTED, withAttempt } from "./attempts.ts";
import type { ClaimAnswer, ClaimedDelivery, ClaimRequest, DeliveryTarget } from "./messages.ts";
import { keysOf } from "../fan-out.ts";
import { QUEUE } from "../queue-options.ts";

interface TargetRow {
  uid: string;
  parent: string;
  sink: string;
  secret: string;
  old_secret: string;
  old_secret_expire_time: number | null;
  allowed_rate: number;
  handshake_time: number | null;
  format: number;
}
interface EventRow {
  seq: number;
  id: string;
  type: string;
  subject: string;
  parent: string;
  number: number;
  time: number;
  actor: string;
  body: string;
}
interface Marked {
  uid: string;
  seq: number;
  step: number;
}

const selectTarget =
  statement<TargetRow>(`select uid, parent, sink, secret, old_secret, old_secret_expire_time, allowed_rate, handshake_time, format
  from subscriptions where uid = ? and state = 1`);
const keepLease = statement<{ holder: string }>(`update subscription_leases set until_time = ?
  where subscription = ? and holder = ? and until_time > ? returning holder`);
// If two processes claim a free lease, the second waits for the first and then finds it taken.
const takeLease = statement<{
  holder: string;
}>(`insert into subscription_leases (subscription, holder, until_time) values (?, ?, ?)
  on conflict (subscription) do update set holder = excluded.holder, until_time = excluded.until_time
  where subscription_leases.until_time <= ? returning holder`);
const selectSending = statement<{ uid: string; attempts: string; update_time: number }>(
  "select uid, attempts, update_time from deliveries where parent = ? and state = 2 and next_time is not null order by next_time, seq",
);
const interrupt =
  statement(`update deliveries set state = 3, last_status = 0, last_latency_ms = 0, last_error = '${INTERRUPTED}',
    attempts = j.value ->> 'attempts', update_time = ?
  from json_each(?) as j where deliveries.uid = j.key and deliveries.state = 2`);
const DUE = (state: number) =>
  `select uid, state from deliveries where parent = ? and state = ${state} and next_time <= ? order by next_time, seq limit ?`;
const selectDue = statement<{ uid: string; state: number }>(
  `select uid, state from (${DUE(1)}) as fresh union all select uid, state from (${DUE(3)}) as again`,
);
const mark = statement<Marked>(`update deliveries set state = 2, tries = tries + 1, update_time = ?
  where uid in (select key from json_each(?)) and state in (1, 3) returning uid, seq, step`);
const selectEvents =
  statement<EventRow>(`select e.seq, e.id, e.type, e.subject, e.parent, e.number, e.time, e.actor, e.body
  from json_each(?) as j join events e on e.seq = cast(j.key as bigint)`);

/**
 * Takes or renews the subscription's lease and claims due deliveries: first those that were left unfinished by another
 * holder, or by a lease that has ended, then new ones and retries in equal parts, as far as there are enough of each.
 */
export const claimDeliveries = command(
  "events.claimDeliveries",
  async (
    { tx, nowMs, agreedMs }: Call,
    { subscription, holder, holdMs, limit }: ClaimRequest,
  ): Promise<ClaimAnswer> => {
    const [row] = await selectTarget(tx, subscription);
    if (row === undefined) return { held: false };
    const untilMs = agreedMs + holdMs;
    let left: string[] = [];
    if ((await keepLease(tx, untilMs, subscription, holder, agreedMs)).length === 0) {
      if ((await takeLease(tx, subscription, holder, untilMs, agreedMs)).length === 0) return { held: false };
      left = await interruptAll(tx, subscription, nowMs);
    }
    const target = targetOf(row, nowMs);
    if (limit <= 0) return { held: true, target, deliveries: [] };
    const due = await selectDue(tx, subscription, agreedMs, limit, subscription, agreedMs, limit);
    const uids = chosen(left, due, limit);
    return { held: true, target, deliveries: uids.length === 0 ? [] : await marked(tx, uids, nowMs) };
  },
  QUEUE,
);

/**
 * Records the attempts that no process continues as interrupted. Returns their deliveries, in the order in which they
 * were due.
 */
async function interruptAll(tx: Database, subscription: string, nowMs: number): Promise<string[]> {
  const sending = await selectSending(tx, subscription);
  if (sending.length === 0) return [];
  const changes = sending.map(({ uid, attempts, update_time: startMs }) => [
    uid,
    { attempts: withAttempt(attempts, [startMs, 0, 0, INTERRUPTED]) },
  ]);
  await interrupt(tx, nowMs, JSON.stringify(Object.fromEntries(changes)));
  return sending.map(({ uid }) => uid);
}

/**
 * At most `limit` uids: the unfinished ones, then new ones and retries in equal parts, so that neither starves the
 * other.
 */
export function chosen(left: string[], due: { uid: string; state: number }[], limit: number): string[] {
  const first = left.slice(0, limit);
  const capacity = limit - first.length;
  const known = new Set(first);
  const others = (state: number): string[] =>
    due.filter((row) => row.state === state && !known.has(row.uid)).map(({ uid }) => uid);
  const [fresh, again] = [others(1), others(3)];
  const taken = fresh.slice(0, Math.max(Math.ceil(capacity / 2), capacity - again.length));
  return [...first, ...taken, ...again.slice(0, capacity - taken.length)];
}

async function marked(tx: Database, uids: string[], nowMs: number): Promise<ClaimedDelivery[]> {
  const rows = new Map((await mark(tx, nowMs, keysOf(uids))).map((row) => [row.uid, row]));
  const events = new Map(
    (await selectEvents(tx, keysOf([...rows.values()].map(({ seq }) => String(seq))))).map((event) => [
      event.seq,
      event,
    ]),
  );
  return uids.flatMap((uid): ClaimedDelivery[] => {
    const { seq = 0, step = 0 } = rows.get(uid) ?? {};
    const event = events.get(seq);
    if (event === undefined) return [];
    const { id, type, subject, parent: group, number, time: timeMs, actor, body } = event;
    return [{ uid, step, event: { id, type, subject, group, number, timeMs, actor, body } }];
  });
}

function targetOf(row: TargetRow, nowMs: number): DeliveryTarget {
  const {
    uid,
    parent,
    sink,
    secret,
    old_secret: old,
    old_secret_expire_time: oldUntilMs,
    allowed_rate: allowedRate,
    handshake_time: handshakeMs,
    format,
  } = row;
  const secrets = old !== "" && (oldUntilMs ?? 0) > nowMs ? [secret, old] : [secret];
  return {
    subscription: uid,
    group: parent,
    sink,
    secrets,
    allowedRate,
    format,
    ...(handshakeMs !== null && { handshakeMs }),
  };
}
