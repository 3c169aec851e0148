import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, statement, takeAdvisoryLock } from "@moorage/kernel/store";
import { keysOf, openFanOut } from "./fan-out.ts";
import { QUEUE } from "./queue-options.ts";
import { TAG_MOVES } from "./types.ts";
import { IS_UNTAGGED } from "./untagged-events.ts";

export interface SequenceRequest {
  /** The most events to number. */
  limit: number;
  /** The prefix of types from the settings: filters of subscriptions apply to full types. */
  typePrefix: string;
}

interface Waiting {
  n: number;
  id: string;
  type: string;
  subject: string;
  parent: string;
  target: string;
  untagged: number;
}
interface Count {
  subject: string;
  number: number;
  end_time: number | null;
}

// Limits the rows of one transaction, which other writers wait for: an event of a group with many subscriptions has
// many deliveries.
const MAX_DELIVERIES = 10_000;
const DELETED = ".deleted.v1";
/** The subject of these types is the uid of a group, and the group is not deleted. */
const PART_DELETED: readonly string[] = ["api.iam.account_associations.deleted.v1", "registry.quota.deleted.v1"];
/** The subject of the counter of all events. */
const ALL = "";

const selectWaiting = statement<Waiting>(
  `select n, id, type, subject, parent, target, case when ${IS_UNTAGGED} then 1 else 0 end as untagged
    from event_outbox order by n limit ?`,
);
const selectCounts = statement<Count>(
  "select subject, number, end_time from event_numbers where subject in (select key from json_each(?))",
);
const insertEvents =
  statement(`insert into events (seq, id, type, subject, parent, organization, target, number, time, actor, body)
  select cast(j.value ->> 'seq' as bigint), o.id, o.type, o.subject, o.parent, j.value ->> 'organization', o.target, cast(j.value ->> 'number' as bigint),
    o.time, o.actor, o.body
  from json_each(?) as j join event_outbox o on o.n = cast(j.key as bigint)`);
// "where true" prevents SQLite from parsing "on conflict" as part of a join.
const putCounts = statement(`insert into event_numbers (subject, number, end_time)
  select j.key, cast(j.value ->> 'number' as bigint), cast(j.value ->> 'end' as bigint) from json_each(?) as j where true
  on conflict (subject) do update set number = excluded.number, end_time = excluded.end_time`);
const insertDeliveries = statement(`insert into deliveries
  (uid, parent, seq, event_id, event_type, event_subject, state, tries, step, last_status, last_error, last_latency_ms, next_time, attempts,
    create_time, update_time)
  select j.key, j.value ->> 'to', e.seq, e.id, e.type, e.subject, 1, 0, 0, 0, '', 0, cast(? as bigint), '[]', cast(? as bigint), cast(? as bigint)
  from json_each(?) as j join events e on e.seq = cast(j.value ->> 'seq' as bigint)`);
const removeWaiting = statement("delete from event_outbox where n in (select cast(key as bigint) from json_each(?))");

/**
 * Numbers the oldest events of the outbox and creates their deliveries. It runs one at a time and reads the last number
 * only after the previous run has committed, so that no event becomes visible after one with a higher number. `count`:
 * how many events; 0 when none were waiting. Source: docs/adr/0012.
 */
export const sequenceEvents = command(
  "events.sequenceEvents",
  async (call: Call, { limit, typePrefix }: SequenceRequest): Promise<{ count: number }> => {
    const { tx, nowMs, agreedMs } = call;
    await takeAdvisoryLock(tx, "sequence");
    const waiting = await selectWaiting(tx, limit);
    if (waiting.length === 0) return { count: 0 };
    const recipientsOf = await openFanOut(tx, waiting, typePrefix);
    const counter = await openCounter(
      tx,
      waiting.map(({ subject }) => subject),
    );
    const events: Record<string, { seq: number; number: number; organization: string }> = {};
    const deliveries: Record<string, { to: string; seq: number }> = {};
    let count = 0;
    let sent = 0;
    for (const event of waiting) {
      const recipients = recipientsOf(event);
      if (count > 0 && sent + recipients.length > MAX_DELIVERIES) break;
      const { seq, number } = counter.next(
        event.subject,
        event.type.endsWith(DELETED) && !PART_DELETED.includes(event.type),
        nowMs,
      );
      const [organization = ""] = event.parent.split("/", 1);
      events[event.n] = { seq, number, organization };
      for (const to of recipients) deliveries[deliveryUid(to, seq)] = { to, seq };
      sent += recipients.length;
      count += 1;
    }
    await insertEvents(tx, JSON.stringify(events));
    await putCounts(tx, counter.changed());
    if (sent > 0) await insertDeliveries(tx, agreedMs, nowMs, nowMs, JSON.stringify(deliveries));
    await removeWaiting(tx, keysOf(Object.keys(events)));
    // By these events scanners learn of new images.
    if (waiting.some(({ type }) => TAG_MOVES.includes(type))) call.wake("scans");
    return { count };
  },
  QUEUE,
);

/** The uid of an event's delivery: below its subscription's uid, and in the order of the events. */
function deliveryUid(subscription: string, seq: number): string {
  return `${subscription}/${seq.toString(16).padStart(16, "0")}`;
}

/** Loads the counters of the subjects and of all events, and continues them. */
async function openCounter(tx: Database, subjects: string[]) {
  const found = new Map(
    (await selectCounts(tx, keysOf([ALL, ...subjects]))).map((row) => [
      row.subject,
      { number: row.number, end: row.end_time },
    ]),
  );
  const changed = new Map<string, { number: number; end: number | null }>();
  const add = (subject: string): { number: number; end: number | null } => {
    const count = found.get(subject) ?? { number: 0, end: null };
    count.number += 1;
    found.set(subject, count);
    changed.set(subject, count);
    return count;
  };
  return {
    /**
     * `ends`: the event deletes its subject. A later event of a deleted subject is still counted, and its counter is
     * retained longer.
     */
    next(subject: string, ends: boolean, nowMs: number): { seq: number; number: number } {
      const seq = add(ALL).number;
      if (subject === ALL) return { seq, number: seq };
      const count = add(subject);
      if (ends || count.end !== null) count.end = nowMs;
      return { seq, number: count.number };
    },
    changed: () => JSON.stringify(Object.fromEntries(changed)),
  };
}
