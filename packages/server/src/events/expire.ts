import { DeliveryState } from "@moorage/api";
import type { Call } from "../core/call.ts";
import { type Database, statement } from "../store/index.ts";
import { OVERDUE } from "./deliveries/attempts.ts";
import { keysOf } from "./fan-out.ts";
import { goneKey } from "./feed/page.ts";
import { command } from "../core/command.ts";
import { QUEUE } from "./queue-options.ts";

/** What goes when it is old, in the order in which it goes: an event when no delivery needs it any more. */
export const EXPIRING = ["delivered", "dead", "overdue", "waiting", "orphaned", "leases", "numbers", "events"] as const;

export interface ExpireRequest {
  what: (typeof EXPIRING)[number];
  /** What ended, for events what happened, before this time. */
  beforeMs: number;
  /** Where the step before ended. */
  after?: { timeMs: number; seq: number };
}

/** `more`: there may be more, after this place if there is one. */
export interface Expired {
  removed: number;
  more: boolean;
  after?: { timeMs: number; seq: number };
}

const { DELIVERED, DEAD } = DeliveryState;
/** The most rows that one transaction removes. */
const AT_ONCE = 500;

interface Uid {
  uid: string;
}

// What was found may be another thing when its turn comes: the conditions are looked at again. Found and removed in one
// statement, PostgreSQL may read all that is old to remove some of it.
const BY_KEY = "in (select key from json_each(?))";
const selectEnded = statement<Uid>(`select uid from deliveries where next_time is null and state = ? and update_time < ?
  order by update_time limit ${AT_ONCE}`);
const removeEnded = statement<Uid>(
  `delete from deliveries where uid ${BY_KEY} and state = ? and update_time < ? returning uid`,
);
const selectOverdue = statement<Uid>(`select d.uid from subscriptions s join deliveries d on d.parent = s.uid
  where s.state = 1 and d.create_time < ? and d.update_time < ? and d.state in (1, 3) limit ${AT_ONCE}`);
const giveUp =
  statement<Uid>(`update deliveries set state = 5, next_time = null, last_error = '${OVERDUE}', update_time = ?
  where uid in (select key from json_each(?)) and state in (1, 3) returning uid`);
const selectWaiting = statement<Uid>(`select d.uid from subscriptions s join deliveries d on d.parent = s.uid
  where s.state <> 1 and d.create_time < ? and d.state in (1, 3) limit ${AT_ONCE}`);
const removeWaiting = statement<Uid>(`delete from deliveries where uid ${BY_KEY} and state in (1, 3) returning uid`);
// One step in the index for each subscription, however many deliveries it has.
const selectOrphan = statement<{ parent: string }>(`with recursive known (parent) as (
    select (select min(parent) from deliveries)
    union all
    select (select min(d.parent) from deliveries d where d.parent > known.parent) from known where known.parent is not null
  ) select parent from known where parent is not null and not exists (select 1 from subscriptions s where s.uid = known.parent) limit 1`);
const selectOfOrphan = statement<Uid>(`select uid from deliveries where parent = ? limit ${AT_ONCE}`);
const remove = statement<Uid>(`delete from deliveries where uid ${BY_KEY} returning uid`);
const removeLeases = statement<Uid>(`delete from subscription_leases where subscription in (
    select l.subscription from subscription_leases l where not exists (select 1 from subscriptions s where s.uid = l.subscription) limit ${AT_ONCE}
  ) returning subscription as uid`);
const ENDED = `select subject from event_numbers where end_time is not null and end_time < ? order by end_time, subject limit ${AT_ONCE}`;
const selectGone = statement<Uid>(`select subject as uid from (${ENDED}) as ended`);
const selectBelow = statement<Uid>(`select n.subject as uid from (${ENDED}) as ended
  join event_numbers n on n.subject > ended.subject || '/' and n.subject < ended.subject || '0' limit ${AT_ONCE}`);
const removeBelow = statement<Uid>(`delete from event_numbers where subject ${BY_KEY} returning subject as uid`);
const removeGone = statement<Uid>(
  `delete from event_numbers where subject ${BY_KEY} and end_time + 0 < ? returning subject as uid`,
);
const selectOld = statement<{ seq: number; time: number }>(
  `select seq, time from events where (time, seq) > (?, ?) and time < ? order by time, seq limit ${AT_ONCE}`,
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
 * Removes some of what is old: a bounded number, since others wait for it.
 *
 * - delivered, dead: deliveries that ended so.
 * - overdue: deliveries that were made and last tried so long ago although nothing held them back but the number of
 *   those before them: they become dead
 *   letters, so that what a sink that fails for months leaves behind has an end.
 * - waiting: deliveries made for a subscription that is paused or disabled.
 * - orphaned: deliveries of deleted subscriptions, whenever they were made; leases of those.
 * - numbers: of subjects that were deleted, and of all below them.
 * - events: those that happened, and of which there is no delivery.
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
  // Readers of the feed that come too late are told.
  if (removed.length > 0) await putGone(tx, JSON.stringify(gone));
  return { removed: removed.length, more: old.length === AT_ONCE, after: { timeMs: last.time, seq: last.seq } };
}
