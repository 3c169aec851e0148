import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { expireEvents, hasOutbox, keepPulls, notePulls, sequenceEvents } from "../../src/events/index.ts";
import { openEventQueue, outcome, PREFIX, type Emitted } from "../../../server/test/support/event-queue.ts";

// How events get their numbers and their deliveries.

test("events get consecutive numbers in the order in which they happened, and so do those of each subject", async (t) => {
  const queue = await openEventQueue(t);
  const group = newUid("");
  const [a, b] = [newUid(group), newUid(group)];
  assert.equal(await hasOutbox(queue.reader), false);
  const ids = [
    ...(await queue.emit([a, b, a].map((subject) => ({ subject, group })))),
    ...(await queue.emit([{ subject: b, group }])),
  ];
  assert.equal(await hasOutbox(queue.reader), true);
  assert.equal(await queue.sequence(7, 3), 4);
  assert.equal(await hasOutbox(queue.reader), false);
  const more = await queue.emit([
    { subject: a, group: newUid(group) },
    { subject: "", group: "" },
  ]);
  assert.equal(await queue.sequence(8), 2);
  const events = await queue.events();
  assert.deepEqual(
    events.map(({ seq, id }) => [seq, id]),
    [...ids, ...more].map((id, at) => [at + 1, id]),
  );
  assert.deepEqual(
    events.map(({ subject, number }) => [subject, number]),
    [
      [a, 1],
      [b, 1],
      [a, 2],
      [b, 2],
      [a, 3],
      ["", 6],
    ],
  );
  assert.deepEqual(
    events.map(({ organization }) => organization),
    [...Array.from({ length: 5 }, () => group), ""],
  );
  assert.ok(events.every(({ body }) => body === '{"response":""}'));
});

test("with concurrent writers and sequencers a reader sees every event exactly once, in the order of each subject", async (t) => {
  const [processes, writers, each] = [3, 6, 25];
  const queue = await openEventQueue(t, processes);
  const group = newUid("");
  const subscription = await queue.subscribe(group);
  const subjects = [newUid(group), newUid(group)];
  await queue.db
    .insertInto("counters")
    .values(subjects.map((ancestor) => ({ kind: "test", ancestor, n: 0 })))
    .execute();
  const emitted: string[][] = [];
  const byCursor: string[] = [];
  const write = async (writer: number): Promise<void> => {
    const mine: string[] = [];
    emitted.push(mine);
    for (let n = 0; n < each; n += 1) {
      const subject = subjects[(writer + n) % 2] ?? "";
      // Each event has how often its subject had been changed before, which shows the order of the subject's events.
      mine.push(
        ...(await queue.emit(
          async (tx) => {
            const { n: before } = await tx
              .selectFrom("counters")
              .select("n")
              .where("ancestor", "=", subject)
              .executeTakeFirstOrThrow();
            await tx
              .updateTable("counters")
              .set({ n: before + 1 })
              .where("ancestor", "=", subject)
              .execute();
            return [
              { subject, group, type: `first.${before}` },
              { subject, group, type: `second.${before}` },
            ];
          },
          { process: writer % processes },
        )),
      );
    }
  };
  let isWriting = true;
  let cursor = 0;
  const read = async (): Promise<void> => {
    const rows = await queue.reader
      .selectFrom("events")
      .select(["seq", "id"])
      .where("seq", ">", cursor)
      .orderBy("seq")
      .limit(40)
      .execute();
    for (const { seq, id } of rows) {
      byCursor.push(id);
      cursor = seq;
    }
  };
  const meanwhile = async (work: () => Promise<unknown>): Promise<void> => {
    while (isWriting) {
      await work();
      await pause(1);
    }
  };
  const sequence = (process: number) => queue.write(sequenceEvents, 1, { limit: 7, typePrefix: PREFIX }, process);
  const sequencers = Array.from({ length: processes }, (_, process) => meanwhile(() => sequence(process)));
  const reading = meanwhile(read);
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  isWriting = false;
  await Promise.all([...sequencers, reading]);
  await queue.sequence(1);
  for (let before = -1; before !== cursor;) {
    before = cursor;
    await read();
  }
  const all = emitted.flat();
  assert.equal(all.length, writers * each * 2);
  assert.deepEqual(byCursor.toSorted(), all.toSorted());
  assert.equal(cursor, all.length, "the numbers are dense");
  for (const mine of emitted)
    assert.deepEqual(
      byCursor.filter((id) => mine.includes(id)),
      mine,
      "one writer's events are in the order in which it was answered",
    );
  const events = await queue.events();
  for (const subject of subjects) {
    const its = events.filter((event) => event.subject === subject);
    assert.deepEqual(
      its.map(({ number, type }) => [number, type]),
      its.map((_, at) => [at + 1, `${at % 2 === 0 ? "first" : "second"}.${at >> 1}`]),
    );
  }
  assert.deepEqual(await queue.ids(subscription), byCursor);
});

test("an event is delivered to the subscriptions of its group and of every group above, and to no others", async (t) => {
  const queue = await openEventQueue(t);
  const root = "a".repeat(40);
  const group = `${root}/aaaaaaaaaaaaaaaa`;
  const inner = `${group}/bbbbbbbbbbbbbbbb`;
  const others = [
    `${root}/aaaaaaaaaaaaaaab`,
    `${root}/aaaaaaaaaaaaaaa`,
    `${root}/aaaaaaaaaaaaaaaaa`,
    `${inner}/cccccccccccccccc`,
    "b".repeat(40),
    `${group}/bbbbbbbbbbbbbbbc`,
  ];
  const near = await Promise.all([root, group, inner].map((place) => queue.subscribe(place)));
  const far = await Promise.all(others.map((place) => queue.subscribe(place)));
  const [id = ""] = await queue.emit([
    { subject: `${inner}/dddddddddddddddd`, group: inner },
    { subject: root, group: "" },
  ]);
  assert.equal(await queue.sequence(5), 2);
  for (const subscription of near) assert.deepEqual(await queue.ids(subscription), [id], subscription);
  for (const subscription of far) assert.deepEqual(await queue.ids(subscription), [], subscription);
  const [row] = await queue.rows(near[0] ?? "");
  assert.deepEqual(
    [row?.uid, row?.state, row?.tries, row?.next_time, row?.create_time, row?.event_type, row?.event_subject],
    [`${near[0]}/0000000000000001`, 1, 0, 5, 5, "test.v1", `${inner}/dddddddddddddddd`],
  );
});

test("paused and disabled subscriptions get deliveries, filters match whole types and subjects, and a targeted event passes all", async (t) => {
  const queue = await openEventQueue(t);
  const group = newUid("");
  const [repo, other] = [newUid(group), newUid(group)];
  const by = (types: string[], subjects: string[] = [], state = 1) =>
    queue.subscribe(group, { type_prefixes: JSON.stringify(types), subject_prefixes: JSON.stringify(subjects), state });
  const all = await Promise.all([by([]), by([], [], 2), by([], [], 3)]);
  const pushes = await by([`${PREFIX}.registry.push.`, `${PREFIX}.api.iam`]);
  const tooShort = await by([`${PREFIX.slice(0, 3)}x`, "registry.push"]);
  const ofRepo = await by([], [repo]);
  const both = await by([`${PREFIX}.registry`], [other]);
  const events: Emitted[] = [
    { subject: repo, group, type: "registry.push.v1" },
    { subject: `${repo}/0123456789abcdef`, group, type: "registry.pushed.v1" },
    { subject: `${repo}0`, group, type: "api.iam.group.created.v1" },
    { subject: other, group, type: "registry.pull.v1" },
  ];
  const [push = "", below = "", alike = "", pull = ""] = await queue.emit(events);
  await queue.sequence();
  for (const subscription of all) assert.deepEqual(await queue.ids(subscription), [push, below, alike, pull]);
  assert.deepEqual(await queue.ids(pushes), [push, alike]);
  assert.deepEqual(await queue.ids(tooShort), []);
  assert.deepEqual(await queue.ids(ofRepo), [push, below]);
  assert.deepEqual(await queue.ids(both), [pull]);
  const [own = ""] = await queue.emit([{ subject: tooShort, group, type: "events.test.v1", target: tooShort }]);
  await queue.sequence();
  assert.deepEqual(await queue.ids(tooShort), [own]);
  for (const subscription of [...all, pushes, ofRepo]) assert.ok(!(await queue.ids(subscription)).includes(own));
});

test("the deliveries for many subscriptions are created in several transactions", async (t) => {
  const queue = await openEventQueue(t);
  const group = newUid("");
  const subscriptions = await Promise.all(Array.from({ length: 90 }, () => queue.subscribe(group)));
  await queue.emit(Array.from({ length: 120 }, () => ({ subject: group, group })));
  const first = await queue.write(sequenceEvents, 0, { limit: 500, typePrefix: PREFIX });
  assert.deepEqual(first, { count: 111 });
  assert.equal(await queue.sequence(), 9);
  for (const subscription of [subscriptions[0], subscriptions.at(-1)])
    assert.equal((await queue.ids(subscription ?? "")).length, 120);
});

test("numbering, claiming and recording do not conflict with each other or with writers", async (t) => {
  const processes = 3;
  const queue = await openEventQueue(t, processes);
  const group = newUid("");
  const subscription = await queue.subscribe(group);
  const pull = {
    repo: newUid(group),
    repository: "acme/app",
    remoteAddress: "192.0.2.1",
    userAgent: "test",
    type: "manifest" as const,
    method: "GET" as const,
    actor: { identity: "", act: {} },
    contents: [{ tag: "1", digest: "sha256:0", timesMs: [1] }],
  };
  let isWriting = true;
  const work = async (process: number): Promise<void> => {
    const holder = `holder ${process}`;
    while (isWriting) {
      await queue.write(keepPulls, 1, { pulls: JSON.stringify([pull]) }, process);
      await queue.write(notePulls, 1, {}, process);
      await queue.write(sequenceEvents, 1, { limit: 5, typePrefix: PREFIX }, process);
      const claimed = await queue.claim(subscription, 2, { holder, process, limit: 5 });
      if (claimed !== undefined)
        await queue.record(subscription, 3, {
          holder,
          process,
          outcomes: claimed.map((one) => outcome(one)),
          release: true,
        });
      // One process numbers the events for all.
      if (process === 0) await queue.write(expireEvents, 4, { what: "delivered", beforeMs: 4 }, process);
      await pause(2);
    }
  };
  const working = Array.from({ length: processes }, (_, process) => work(process));
  const write = async (process: number): Promise<void> => {
    for (let n = 0; n < 15; n += 1) await queue.emit([{ subject: newUid(group), group }], { process });
  };
  await Promise.all(Array.from({ length: processes }, (_, process) => write(process)));
  isWriting = false;
  await Promise.all(working);
  assert.equal(queue.collisions(), 0);
});
