import { DeliveryState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, statement } from "@moorage/kernel/store";
import { OVERDUE } from "./deliveries/attempts.ts";
import { keysOf } from "./fan-out.ts";
import { goneKey } from "./feed/page.ts";
import { QUEUE } from "./queue-options.ts";

/** What is removed when it is old, in order: events come last, because deliveries refer to them. */
export const EXPIRING = ["delivered", "dead", "overdue", "waiting", "orphaned", "leases", "numbers", "events"] as const;

export interface ExpireRequest {
  what: (typeof EXPIRING)[number];
  /** Removes what ended before this time; for events, what happened before it. */
  beforeMs: number;
  /** The position of the previous step. */
  after?: { timeMs: number; seq: number };
}

/** `more`: whether there may be more to remove, after `after` if it is set. */
export interface Expired {
  removed: number;
  more: boolean;
  after?: { timeMs: number; seq: number };
}

const { DELIVERED, DEAD } = DeliveryState;
/** The most rows that one transaction removes. */
const MAX_ROWS = 500;

interface Uid {
  uid: string;
}

// A row may have changed after it was found, so the second statement repeats the conditions. If rows were found and
// removed in one statement, PostgreSQL might read all old rows to remove a few.
const BY_KEY = "in (select key from json_each(?))";
const selectEnded = statement<Uid>(`select uid from deliveries where next_time is null and state = ? and update_time < ?
  order by update_time limit ${MAX_ROWS}`);
const removeEnded = statement<Uid>(
  `delete from deliveries where uid ${BY_KEY} and state = ? and update_time < ? returning uid`,
);
const selectOverdue = statement<Uid>(`select d.uid from subscriptions s join deliveries d on d.parent = s.uid
  where s.state = 1 and d.create_time < ? and d.update_time < ? and d.state in (1, 3) limit ${MAX_ROWS}`);
const giveUp =
  statement<Uid>(`update deliveries set state = 5, next_time = null, last_error = '${OVERDUE}', update_time = ?
  where uid in (select key from json_each(?)) and state in (1, 3) returning uid`);
const selectWaiting = statement<Uid>(`select d.uid from subscriptions s join deliveries d on d.parent = s.uid
  where s.state <> 1 and d.create_time < ? and d.state in (1, 3) limit ${MAX_ROWS}`);
const removeWaiting = statement<Uid>(`delete from deliveries where uid ${BY_KEY} and state in (1, 3) returning uid`);
// One index lookup for each subscription, however many deliveries it has.
const selectOrphan = statement<{ parent: string }>(`with recursive known (parent) as (
    select (select min(parent) from deliveries)
    union all
    select (select min(d.parent) from deliveries d where d.parent > known.parent) from known where known.parent is not null
  ) select parent from known where parent is not null and not exists (select 1 from subscriptions s where s.uid = known.parent) limit 1`);
const selectOfOrphan = statement<Uid>(`select uid from deliveries where parent = ? limit ${MAX_ROWS}`);
const remove = statement<Uid>(`delete from deliveries where uid ${BY_KEY} returning uid`);
const removeLeases = statement<Uid>(`delete from subscription_leases where subscription in (
    select l.subscription from subscription_leases l where not exists (select 1 from subscriptions s where s.uid = l.subscription) limit ${MAX_ROWS}
  ) returning subscription as uid`);
const ENDED = `select subject from event_numbers where end_time is not null and end_time < ? order by end_time, subject limit ${MAX_ROWS}`;
const selectGone = statement<Uid>(`select subject as uid from (${ENDED}) as ended`);
const selectBelow = statement<Uid>(`select n.subject as uid from (${ENDED}) as ended
  join event_numbers n on n.subject > ended.subject || '/' and n.subject < ended.subject || '0' limit ${MAX_ROWS}`);
const removeBelow = statement<Uid>(`delete from event_numbers where subject ${BY_KEY} returning subject as uid`);
const removeGone = statement<Uid>(
  `delete from event_numbers where subject ${BY_KEY} and end_time + 0 < ? returning subject as uid`,
);
const selectOld = statement<{ seq: number; time: number }>(
  `select seq, time from events where (time, seq) > (?, ?) and time < ? order by time, seq limit ${MAX_ROWS}`,
);
const removeEvents = statement<{
  seq: number;
  organization: string;
}>(`delete from events where seq in (select cast(key as bigint) from json_each(?))
  and not exists (select 1 from deliveries d where d.seq = events.seq) returning seq, organization`);
const putGone =
  statement(`insert into event_numbers (subject, number) select j.key, cast(cast(j.value as text) as bigint) from json_each(?) as j where true
  on conflict (subject) do update set number = excluded.number where excluded.number > event_numbers.number`);

/**
 * Removes old rows of one kind: at most `MAX_ROWS`, since other writers wait for the transaction.
 *
 * - delivered, dead: deliveries that ended in this state.
 * - overdue: deliveries of active subscriptions, created and last attempted before the time, that only waited behind
 *   others. They become dead letters, so that the backlog of a sink that fails for months is bounded.
 * - waiting: deliveries of paused and disabled subscriptions.
 * - orphaned: deliveries of deleted subscriptions, whatever their age; leases: the leases of those.
 * - numbers: counters of deleted subjects, and of all subjects below them.
 * - events: those without deliveries.
 */
export const expireEvents = command(
  "events.expireEvents",
  async (call: Call, request: ExpireRequest): Promise<Expired> => {
    if (request.what === "events") return await removeOldEvents(call, request);
    const removed = await removeSome(call, request);
    return { removed, more: removed > 0 };
  },
  QUEUE,
);

async function removeSome({ tx, nowMs }: Call, { what, beforeMs }: ExpireRequest): Promise<number> {
  switch (what) {
    case "delivered":
      return await removeEndedAs(tx, DELIVERED, beforeMs);
    case "dead":
      return await removeEndedAs(tx, DEAD, beforeMs);
    case "overdue":
      return (await giveUp(tx, nowMs, keysOfRows(await selectOverdue(tx, beforeMs, beforeMs)))).length;
    case "waiting":
      return (await removeWaiting(tx, keysOfRows(await selectWaiting(tx, beforeMs)))).length;
    case "orphaned": {
      const [orphan] = await selectOrphan(tx);
      return orphan === undefined ? 0 : (await remove(tx, keysOfRows(await selectOfOrphan(tx, orphan.parent)))).length;
    }
    case "leases":
      return (await removeLeases(tx)).length;
    case "numbers": {
      const below = await selectBelow(tx, beforeMs);
      if (below.length > 0) return (await removeBelow(tx, keysOfRows(below))).length;
      return (await removeGone(tx, keysOfRows(await selectGone(tx, beforeMs)), beforeMs)).length;
    }
    default:
      return 0;
  }
}

async function removeEndedAs(tx: Database, state: number, beforeMs: number): Promise<number> {
  return (await removeEnded(tx, keysOfRows(await selectEnded(tx, state, beforeMs)), state, beforeMs)).length;
}

function keysOfRows(rows: readonly Uid[]): string {
  return keysOf(rows.map(({ uid }) => uid));
}

async function removeOldEvents(
  { tx }: Call,
  { beforeMs, after = { timeMs: -1, seq: 0 } }: ExpireRequest,
): Promise<Expired> {
  const old = await selectOld(tx, after.timeMs, after.seq, beforeMs);
  const last = old.at(-1);
  if (last === undefined) return { removed: 0, more: false };
  const removed = await removeEvents(tx, keysOf(old.map(({ seq }) => String(seq))));
  const gone: Record<string, number> = {};
  for (const { seq, organization } of removed)
    gone[goneKey(organization)] = Math.max(seq, gone[goneKey(organization)] ?? 0);
  // Readers of the feed with an older position are answered CURSOR_EXPIRED.
  if (removed.length > 0) await putGone(tx, JSON.stringify(gone));
  return { removed: removed.length, more: old.length === MAX_ROWS, after: { timeMs: last.time, seq: last.seq } };
}
