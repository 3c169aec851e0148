import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import type { Call } from "../../../kernel/src/core/call.ts";
import { openCall } from "../../../server/src/runtime/open-call.ts";
import {
  claimDeliveries,
  dueSubscriptions,
  expireEvents,
  recordOutcomes,
  sequenceEvents,
} from "../../src/events/index.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { openEventQueue, outcome, PREFIX } from "../../../server/test/support/event-queue.ts";
import { planOf, type Ran, rowsRead, statementsRun } from "../../../server/test/support/statements.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";

// Work for one subscription must not grow with the deliveries that wait for another or have ended. Work is not measured
// as time: on SQLite it is the query plan of the statements that were run, on PostgreSQL the rows that the plan reads.

const MANY = 20_000;
const FEW = 20;
// The bound of rows read: a few for each of the few deliveries, far from the many.
const MOST_ROWS = 40 * FEW;

class Undone extends Error {}

const BY_UID = "SEARCH deliveries USING INDEX sqlite_autoindex_deliveries_1 (uid=?)";
const EVENT = "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)";
const DUE = (name: string, sign: string): string =>
  `SEARCH ${name} USING ${name === "d" ? "COVERING " : ""}INDEX deliveries_due (parent=? AND state=? AND next_time${sign}?)`;
const CLAIM = [DUE("deliveries", ">"), DUE("deliveries", "<"), BY_UID, EVENT];
const FIRST_OF_EACH = (index: string): string[] => [
  `SEARCH deliveries USING COVERING INDEX ${index}`,
  `SEARCH d USING COVERING INDEX ${index} (parent>?)`,
];

/** The distinct ways in which SQLite finds deliveries and events. */
async function plansOf(db: Database, statements: readonly Ran[]): Promise<string[]> {
  const found = new Set<string>();
  for (const statement of statements) {
    for (const detail of await planOf(db, statement))
      if (/^(?:SCAN|SEARCH) (?:deliveries|events|d|e)\b/.test(detail)) found.add(detail);
  }
  return [...found];
}

test("work for one subscription does not read the deliveries of others", { timeout: 300_000 }, async (t) => {
  const queue = await openEventQueue(t);
  const group = newUid("");
  const [busy, quiet] = [await queue.subscribe(group), await queue.subscribe(newUid(""))];
  const series = sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(MANY)}) select i from n) as s`;
  await sql`insert into events (seq, id, type, subject, parent, organization, target, number, time, actor, body)
    select s.i, 'e' || s.i, 'test.v1', 'subject', ${sql.lit(group)}, ${sql.lit(group)}, '', s.i, s.i, '{}', '{}' from ${series}`.execute(
    queue.db,
  );
  await sql`insert into event_numbers (subject, number) values ('', ${sql.lit(MANY)})`.execute(queue.db);
  // A quarter each waits for a first attempt, waits for another one, was delivered, and is a dead letter.
  await sql`insert into deliveries
    (uid, parent, seq, event_id, event_type, event_subject, state, tries, step, last_status, last_error, last_latency_ms, next_time,
     attempts, create_time, update_time)
    select ${sql.lit(`${busy}/`)} || (1000000000000000 + s.i), ${sql.lit(busy)}, s.i, 'e' || s.i, 'test.v1', 'subject',
    case s.i % 4 when 0 then 1 when 1 then 3 when 2 then 4 else 5 end, 0, 0, 0, '', 0,
    case when s.i % 4 < 2 then s.i else null end, '[]', s.i, s.i from ${series}`.execute(queue.db);
  const undone = async (work: (tx: Database) => Promise<void>): Promise<void> => {
    await assert.rejects(
      queue.transact(async (tx) => {
        await work(tx);
        throw new Undone();
      }),
      Undone,
    );
  };
  const uids = await queue.fill(quiet, FEW, MANY);
  if (ENGINE === "postgres") await sql`analyze`.execute(queue.db);
  const call = (tx: Database, nowMs: number): Call => openCall(systemCall(nowMs), tx);
  const nowMs = 2 * MANY;
  const claim = (subscription: string) => (tx: Database) =>
    claimDeliveries.run(call(tx, nowMs), { subscription, holder: "a", holdMs: 1_000, limit: FEW }, undefined);
  const outcomes = uids.slice(1).map((uid) => outcome({ uid }));
  const record = (tx: Database) =>
    recordOutcomes.run(
      call(tx, nowMs),
      {
        subscription: quiet,
        holder: "a",
        outcomes,
        unsent: uids.slice(0, 1),
      },
      undefined,
    );
  const event = {
    id: "new",
    type: "test.v1",
    subject: quiet,
    parent: quiet.slice(0, 40),
    target: "",
    time: nowMs,
    actor: "{}",
    body: "{}",
  };
  const emit = (tx: Database) => tx.insertInto("event_outbox").values(event).execute();
  const asked: {
    title: string;
    before?: (tx: Database) => Promise<unknown>;
    work(tx: Database): Promise<unknown>;
    plans: string[];
  }[] = [
    { title: "claim of the one with few", work: claim(quiet), plans: CLAIM },
    { title: "claim of the one with many", work: claim(busy), plans: CLAIM },
    { title: "record", before: claim(quiet), work: record, plans: [BY_UID] },
    {
      title: "what is due",
      work: (tx) => dueSubscriptions(tx, { agreedMs: nowMs, holder: "a", limit: 100 }),
      plans: [...FIRST_OF_EACH("deliveries_due"), DUE("d", "<"), DUE("d", ">")],
    },
    {
      title: "sequence",
      before: emit,
      work: (tx) => sequenceEvents.run(call(tx, nowMs), { limit: 500, typePrefix: PREFIX }, undefined),
      plans: [EVENT],
    },
  ];
  for (const what of ["orphaned", "leases", "numbers"] as const) {
    const plans = what === "orphaned" ? FIRST_OF_EACH("deliveries_time") : [];
    asked.push({
      title: `expire ${what}`,
      work: (tx) => expireEvents.run(call(tx, nowMs), { what, beforeMs: nowMs }, undefined),
      plans,
    });
  }
  for (const { title, before, work, plans } of asked) {
    let statements: Ran[] = [];
    await undone(async (tx) => {
      await before?.(tx);
      statements = await statementsRun(() => work(tx));
    });
    if (ENGINE === "sqlite") {
      assert.deepEqual(await plansOf(queue.db, statements), plans, title);
    } else {
      await undone(async (tx) => {
        await before?.(tx);
        let rows = 0;
        for (const statement of statements) rows += await rowsRead(tx, statement);
        assert.ok(rows <= MOST_ROWS, `${title} reads ${rows} rows`);
      });
    }
  }
});
