import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { WatchEventsRequestSchema } from "@moorage/api";
import { sql } from "kysely";
import { createSecrets } from "../../../kernel/src/lib/secrets.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { openCall } from "../../../server/src/runtime/open-call.ts";
import { MoorageError } from "../../../kernel/src/errors.ts";
import { openCursor, type Position, sealCursor } from "../../src/events/feed/cursor.ts";
import { eventsService } from "../../src/events/feed/service.ts";
import { createNotifier } from "../../src/events/feed/notifier.ts";
import { readFeed, recentOf } from "../../src/events/feed/page.ts";
import { openEventQueue } from "../../../server/test/support/event-queue.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { expireEvents } from "../../src/events/index.ts";

// Readers whose next events were removed, and readers that wait for new events.

const KEY = Buffer.alloc(32, 7);
const EMPTY_GROUP = {
  parent: "",
  description: "",
  resource_limits: "{}",
  verified: 0,
  kind: 0,
  status: 2,
  create_time: 0,
  update_time: 0,
};
const NEVER = new AbortController().signal;
type Queue = Awaited<ReturnType<typeof openEventQueue>>;

const scopeOf = (group: string) => ({ group, typePrefixes: [], subjectPrefixes: [], taggedOnly: false });
const read = (queue: Queue, group: string, after?: Position, limit = 50) =>
  readFeed(queue.reader, scopeOf(group), [], after, limit);
const isExpired = (error: unknown): boolean =>
  error instanceof MoorageError && error.details.preconditionViolations?.[0]?.type === "CURSOR_EXPIRED";

async function happen(queue: Queue, group: string, count: number, nowMs: number): Promise<void> {
  await queue.emit(
    Array.from({ length: count }, () => ({ subject: group, group })),
    { nowMs },
  );
  await queue.sequence(nowMs);
}

test("a reader whose next events were removed gets an error; the cursor of a quiet organization never expires", async (t) => {
  const queue = await openEventQueue(t);
  const [group, quiet] = [newUid(""), newUid("")];
  await happen(queue, group, 6, 1_000);
  await happen(queue, quiet, 1, 1_000);
  await happen(queue, group, 3, 2_000);
  const first = await read(queue, group, undefined, 2);
  const second = await read(queue, group, first.next, 4);
  assert.deepEqual(
    [first, second].map(({ rows, more }) => [rows.map(({ seq }) => seq), more]),
    [
      [[1, 2], true],
      [[3, 4, 5, 6], true],
    ],
  );
  const behind = await read(queue, quiet, undefined);
  const whole = await read(queue, group, undefined);
  // The events of 1,000 are removed.
  await queue.write(expireEvents, 3_000, { what: "events", beforeMs: 1_500 });
  assert.deepEqual(
    (await queue.events()).map(({ seq }) => seq),
    [8, 9, 10],
  );
  await assert.rejects(read(queue, group, first.next), isExpired);
  assert.deepEqual(
    (await read(queue, group, second.next)).rows.map(({ seq }) => seq),
    [8, 9, 10],
    "a reader that had read them misses nothing",
  );
  assert.deepEqual((await read(queue, group, whole.next)).rows, []);
  assert.deepEqual((await read(queue, quiet, behind.next)).rows, []);
  // A reader that begins anew continues with the remaining events.
  const anew = await read(queue, group, undefined, 1);
  assert.deepEqual(
    [anew.rows.map(({ seq }) => seq), (await read(queue, group, anew.next)).rows.map(({ seq }) => seq)],
    [[8], [9, 10]],
  );
  await queue.write(expireEvents, 4_000, { what: "events", beforeMs: 2_500 });
  await assert.rejects(read(queue, group, anew.next), isExpired);
  // All events are removed, but the last number is not forgotten.
  assert.deepEqual((await read(queue, group, whole.next)).rows, []);
  await happen(queue, group, 1, 5_000);
  assert.deepEqual(
    (await read(queue, group, whole.next)).rows.map(({ seq }) => seq),
    [11],
  );
});

test("an old event retained by an open delivery does not make the cursors of its readers expire", async (t) => {
  const queue = await openEventQueue(t);
  const group = newUid("");
  await queue.subscribe(group, { type_prefixes: '["dev.moorage.kept."]' });
  await queue.emit([{ subject: group, group, type: "kept.v1" }]);
  await happen(queue, group, 2, 0);
  await queue.write(expireEvents, 2_000, { what: "events", beforeMs: 1_000 });
  await happen(queue, group, 1, 3_000);
  const first = await read(queue, group, undefined, 1);
  assert.deepEqual([first.rows.map(({ seq }) => seq), first.more], [[1], true]);
  assert.deepEqual(
    (await read(queue, group, first.next)).rows.map(({ seq }) => seq),
    [4],
  );
});

test("a cursor beyond the newest event is rejected, as after a restored backup", async (t) => {
  const queue = await openEventQueue(t);
  const group = newUid("");
  await happen(queue, group, 1, 0);
  await assert.rejects(read(queue, group, { seq: 2, goneTo: 0 }), isExpired);
});

test("a position of another history is rejected, and a reader that waits at it as well", async (t) => {
  const queue = await openEventQueue(t);
  const group = newUid("");
  await happen(queue, group, 4, 0);
  const before = await read(queue, group, undefined);
  assert.equal(before.next.seq, 4);
  const early = await read(queue, group, undefined, 2);
  const news = createNotifier(queue.reader, 5);
  const waiting = assert.rejects(news.after(group, before.next, 60_000, NEVER), isExpired);
  // As after a failover to a copy with two events, after which others get the numbers 3 to 6.
  await queue.db.deleteFrom("events").where("seq", ">", 2).execute();
  await queue.db.updateTable("event_numbers").set({ number: 2 }).execute();
  await happen(queue, group, 4, 0);
  await waiting;
  await assert.rejects(read(queue, group, before.next), isExpired);
  assert.deepEqual(
    (await read(queue, group, early.next)).rows.map(({ seq }) => seq),
    [3, 4, 5, 6],
    "what the copy has is read on",
  );
  const scope = scopeOf(group);
  assert.deepEqual(openCursor(KEY, scope, sealCursor(KEY, scope, before.next)), before.next);
});

test("a waiting reader is woken by events of its own organization, and gets a new cursor when nothing happens", async (t) => {
  const queue = await openEventQueue(t);
  const [group, other] = [newUid(""), newUid("")];
  const news = createNotifier(queue.reader, 5);
  await happen(queue, group, 2, 0);
  const woken = { own: false, other: false };
  const waiting = news.after(group, { seq: 2 }, 20_000, NEVER).finally(() => {
    woken.own = true;
  });
  const quiet = news.after(group, { seq: 2 }, 500, NEVER).then(({ seq }) => ({ seq, seen: woken.other }));
  const others = news.after(other, { seq: 2 }, 20_000, NEVER).finally(() => {
    woken.other = true;
  });
  await happen(queue, other, 2, 0);
  assert.equal((await others).seq, 2);
  const { seq, seen } = await quiet;
  assert.equal(seq, seen ? 4 : 2, "what was looked at had nothing for it");
  assert.equal(woken.own, false);
  assert.equal(
    (await news.after(group, { seq: 2 }, 1_000, NEVER)).seq,
    2,
    "who comes with less is to read first: it was not looked at for it",
  );
  await happen(queue, group, 1, 0);
  assert.equal((await waiting).seq, 4, "up to the event that it is woken for");
  // Events from before the wait do not end it; after a while without readers the state is the initial one.
  await wait(30);
  assert.equal((await news.after(group, { seq: 3 }, 20_000, NEVER)).seq, 4);
  assert.equal((await news.after(group, { seq: 5 }, 20, NEVER)).seq, 5);
});

test("a stream without events still sends its cursor", async (t) => {
  const queue = await openEventQueue(t);
  const [group, other] = [newUid(""), newUid("")];
  await queue.db
    .insertInto("groups")
    .values({ ...EMPTY_GROUP, uid: group, name: "watched" })
    .execute();
  await happen(queue, group, 1, 0);
  const { watchEvents } = eventsService(
    {
      pageTokenKey: KEY,
      ownerRole: "",
      secrets: createSecrets([KEY]),
      eventsPrefix: "dev.moorage",
      readBlob: async () => undefined,
    },
    20,
  );
  const left = new AbortController();
  const data = systemCall(0);
  const stream = watchEvents(openCall(data, queue.reader), create(WatchEventsRequestSchema, { group }), left.signal)[
    Symbol.asyncIterator
  ]();
  const next = async () => (await stream.next()).value as { event?: { id: string }; cursor: string };
  const at = ({ cursor }: { cursor: string }): number => openCursor(KEY, scopeOf(group), cursor).seq;
  const [{ id } = { id: "" }] = await queue.events();
  const first = await next();
  assert.deepEqual([first.event?.id, at(first)], [id, 1]);
  let beat = await next();
  assert.deepEqual([beat.event, at(beat)], [undefined, 1]);
  await happen(queue, other, 3, 0);
  for (let attempt = 0; at(beat) < 4 && attempt < 500; attempt++) beat = await next();
  assert.deepEqual([beat.event, at(beat)], [undefined, 4]);
  await happen(queue, group, 1, 0);
  for (let attempt = 0; beat.event === undefined && attempt < 500; attempt++) beat = await next();
  assert.equal(at(beat), 5);
  left.abort(new Error("left"));
  await assert.rejects(next(), /left/);
});

test("waiting ends when the signal is aborted or the database fails", async (t) => {
  const queue = await openEventQueue(t);
  const group = newUid("");
  await happen(queue, group, 1, 0);
  const left = new AbortController();
  const news = createNotifier(queue.reader, 5);
  const waiting = news.after(group, { seq: 1 }, 20_000, left.signal);
  const reason = new Error("left");
  left.abort(reason);
  await assert.rejects(waiting, reason);
  await assert.rejects(news.after(group, { seq: 1 }, 20_000, left.signal), reason);
  await sql`drop table events`.execute(queue.db);
  await assert.rejects(news.after(group, { seq: 1 }, 20_000, NEVER), /events/);
});

test("the last events are found, be they all, a thousand or none, and those that went before are not missed", async (t) => {
  const queue = await openEventQueue(t);
  const [group, quiet] = [newUid(""), newUid("")];
  const recent = async (of: string): Promise<number[]> => {
    const { seq, goneTo } = await recentOf(queue.reader, of);
    return [seq, goneTo];
  };
  assert.deepEqual(await recent(group), [0, 0]);
  await happen(queue, group, 3, 1_000);
  assert.deepEqual(await recent(group), [0, 3]);
  await happen(queue, group, 1_000, 2_000);
  assert.deepEqual(await recent(group), [3, 1_003]);
  assert.deepEqual(await recent(quiet), [1_003, 1_003]);
  await queue.write(expireEvents, 3_000, { what: "events", beforeMs: 1_500 });
  const { rows } = await read(queue, group, await recentOf(queue.reader, group), 1);
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    [4],
  );
});
