import assert from "node:assert/strict";
import { test } from "node:test";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { expireEvents } from "../../src/events/index.ts";
import { eventRetention } from "../../src/events/retention.ts";
import { openEventQueue, outcome } from "../../../server/test/support/event-queue.ts";

// The removal of old deliveries and events. Times are in days.

const DAY_MS = 24 * 3_600_000;
const RETENTION_DAYS = 10;

async function openOld(t: Parameters<typeof openEventQueue>[0]) {
  const queue = await openEventQueue(t);
  return {
    ...queue,
    /** Emits an event on that day, with a delivery for each subscription. Returns its id. */
    happen: async (group: string, day: number, fields: { subject?: string; type?: string } = {}): Promise<string> => {
      const [id = ""] = await queue.emit([{ subject: group, group, ...fields }], { nowMs: day * DAY_MS });
      await queue.sequence(day * DAY_MS);
      return id;
    },
    /** Claims all deliveries that are due on that day, and records the outcome `fields` for each. */
    end: async (subscription: string, day: number, fields: Parameters<typeof outcome>[1] = {}): Promise<void> => {
      const claimed = (await queue.claim(subscription, day * DAY_MS)) ?? [];
      assert.ok(claimed.length > 0);
      await queue.record(subscription, day * DAY_MS, {
        outcomes: claimed.map((one) => outcome(one, fields)),
        release: true,
      });
    },
    expire: (day: number) =>
      eventRetention(
        {
          writer: queue.writer,
          clock: { nowMs: () => Math.round(day * DAY_MS) },
          retentionMs: RETENTION_DAYS * DAY_MS,
        },
        new AbortController().signal,
      ),
    async subjects() {
      const rows = await queue.reader
        .selectFrom("event_numbers")
        .select("subject")
        .where("subject", "!=", "")
        .where("subject", "not like", "gone:%")
        .orderBy("subject")
        .execute();
      return rows.map(({ subject }) => subject);
    },
    eventIds: async () => (await queue.events()).map(({ id }) => id),
  };
}

const NOTHING = { delivered: 0, dead: 0, overdue: 0, waiting: 0, orphaned: 0, leases: 0, numbers: 0, events: 0 };

test("old delivered deliveries are removed, dead letters after thirty days, and events that no delivery needs", async (t) => {
  const queue = await openOld(t);
  const group = newUid("");
  const [good, bad] = [await queue.subscribe(group), await queue.subscribe(group)];
  const event = await queue.happen(group, 1);
  await queue.end(good, 2);
  const waiting = await queue.happen(group, 3);
  await queue.end(bad, 4, { error: "no" });
  assert.deepEqual(await queue.expire(12), NOTHING);
  assert.deepEqual(await queue.expire(12.1), { ...NOTHING, delivered: 1 });
  assert.deepEqual(await queue.ids(good), [waiting]);
  assert.deepEqual(
    await queue.expire(33),
    NOTHING,
    "a dead letter is kept, and a waiting event of one that is active as well",
  );
  assert.deepEqual(await queue.expire(34), { ...NOTHING, overdue: 1 }, "what never had a turn becomes a dead letter");
  assert.deepEqual(await queue.eventIds(), [event, waiting]);
  assert.deepEqual(await queue.expire(34.1), { ...NOTHING, dead: 2, events: 1 });
  assert.deepEqual(await queue.eventIds(), [waiting]);
  assert.equal(await queue.claim(good, 35 * DAY_MS).then((claimed) => claimed?.length), 0);
  assert.deepEqual(await queue.expire(64), { ...NOTHING });
  assert.deepEqual(await queue.expire(64.1), { ...NOTHING, dead: 1, events: 1 });
  assert.deepEqual(await queue.eventIds(), []);
  assert.equal((await queue.happen(group, 101)).length, 32);
  assert.deepEqual(
    (await queue.events()).map(({ seq, number }) => [seq, number]),
    [[3, 3]],
    "what is counted goes on",
  );
});

test("deliveries of a paused subscription are retained as long as events, and those of a deleted one are removed", async (t) => {
  const queue = await openOld(t);
  const [one, two, three] = [
    await queue.subscribe(newUid("")),
    await queue.subscribe(newUid(""), { state: 2 }),
    await queue.subscribe(newUid("")),
  ];
  for (const subscription of [one, two, three])
    for (const day of [1, 5]) await queue.happen(subscription.slice(0, 40), day);
  await queue.claim(one, DAY_MS);
  await queue.claim(three, DAY_MS, { limit: 1 });
  await queue.db.deleteFrom("subscriptions").where("uid", "=", one).execute();
  assert.deepEqual(await queue.expire(11), { ...NOTHING, orphaned: 2, leases: 1 });
  assert.deepEqual(await queue.expire(12), { ...NOTHING, waiting: 1, events: 2 });
  assert.deepEqual(
    [(await queue.ids(one)).length, (await queue.ids(two)).length, (await queue.ids(three)).length],
    [0, 1, 2],
  );
});

test("the event numbers of a deleted resource and of all below it are removed after a long time", async (t) => {
  const queue = await openOld(t);
  const group = newUid("");
  const [repo, alike] = [`${group}/${"a".repeat(16)}`, `${group}/${"a".repeat(15)}b`];
  const [tag, other] = [newUid(repo), newUid(group)];
  const beside = [alike, `${repo}-1`, `${repo}5`];
  for (const subject of [group, repo, ...beside, tag, other]) await queue.happen(group, 1, { subject });
  await queue.happen(group, 2, { subject: repo, type: "api.platform.registry.repo.deleted.v1" });
  await queue.happen(group, 2, { subject: other, type: "api.platform.registry.repo.deleted.v1" });
  await queue.happen(group, 3, { subject: other, type: "registry.pull.v1" });
  // This resource has the uid of its group, which was not deleted.
  await queue.happen(group, 2, { subject: group, type: "api.iam.account_associations.deleted.v1" });
  assert.equal((await queue.expire(12)).numbers, 0);
  assert.equal((await queue.expire(12.5)).numbers, 2);
  assert.deepEqual(await queue.subjects(), [group, ...beside, other].toSorted());
  assert.equal((await queue.expire(14)).numbers, 1, "what happened to it after its end is counted on");
  assert.deepEqual(await queue.subjects(), [group, ...beside].toSorted());
});

test("many rows are removed in several transactions of bounded size", async (t) => {
  const queue = await openOld(t);
  const subscription = await queue.subscribe(newUid(""));
  const group = subscription.slice(0, 40);
  const subjects = Array.from({ length: 600 }, () => newUid(group));
  await queue.emit(
    subjects.map((subject) => ({ subject, group, type: "x.deleted.v1" })),
    { nowMs: DAY_MS },
  );
  await queue.sequence(DAY_MS);
  await queue.claim(subscription, DAY_MS, { limit: 300 });
  await queue.record(subscription, DAY_MS, {
    outcomes: (await queue.rows(subscription)).slice(0, 300).map((one) => outcome(one)),
    release: true,
  });
  await queue.claim(subscription, DAY_MS, { limit: 300 });
  await queue.record(subscription, DAY_MS, {
    outcomes: (await queue.rows(subscription)).slice(300).map((one) => outcome(one)),
    release: true,
  });
  const data = { beforeMs: 2 * DAY_MS };
  for (const removed of [500, 100])
    assert.deepEqual(await queue.write(expireEvents, 0, { what: "delivered", ...data }), { removed, more: true });
  assert.deepEqual(await queue.write(expireEvents, 0, { what: "numbers", ...data }), { removed: 500, more: true });
  const first = await queue.write(expireEvents, 0, { what: "events", ...data });
  assert.deepEqual([first.removed, first.more, first.after], [500, true, { timeMs: DAY_MS, seq: 500 }]);
  assert.deepEqual(await queue.expire(12), { ...NOTHING, numbers: 100, events: 100 });
  await assert.rejects(
    eventRetention(
      { writer: queue.writer, clock: { nowMs: () => 0 }, retentionMs: 1 },
      AbortSignal.abort(new Error("stopped")),
    ),
    /stopped/,
  );
});
