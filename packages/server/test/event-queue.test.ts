import assert from "node:assert/strict";
import { test } from "node:test";
import { newUid } from "../src/base/uid.ts";
import { attemptsOf, hasOutbox } from "../src/events/index.ts";
import { openEventQueue, outcome } from "./support/event-queue.ts";

test("events get dense numbers in the order in which they happened, those of a subject too", async (t) => {
  const queue = await openEventQueue(t);
  const group = newUid("");
  const [a, b] = [newUid(group), newUid(group)];
  assert.equal(await hasOutbox(queue.reader), false);
  const ids = [...await queue.tell([a, b, a].map((subject) => ({ subject, group }))), ...await queue.tell([{ subject: b, group }])];
  assert.equal(await hasOutbox(queue.reader), true);
  assert.equal(await queue.sequence(7, 3), 4);
  assert.equal(await hasOutbox(queue.reader), false);
  const more = await queue.tell([{ subject: a, group }]);
  assert.equal(await queue.sequence(8), 1);
  const events = await queue.events();
  assert.deepEqual(events.map(({ seq, id, subject, number }) => [seq, id, subject, number]), [...ids, ...more].map((id, at) => [at + 1, id, [a, b, a, b, a][at], [1, 1, 2, 2, 3][at]]));
  assert.ok(events.every((event) => event.organization === group && event.parent === group && event.body === '{"response":""}'));
});

test("claimed, sent and recorded", async (t) => {
  const queue = await openEventQueue(t);
  const group = newUid("");
  const subscription = await queue.subscribe(group);
  const [id] = await queue.tell([{ subject: group, group }], { nowMs: 3 });
  await queue.sequence(5);
  const [claimed] = await queue.claim(subscription, 10) ?? [];
  assert.deepEqual(claimed, { uid: `${subscription}/0000000000000001`, step: 0, event: { id, type: "test.v1", subject: group, group, number: 1, timeMs: 3, actor: '{"subject":"","act":{}}', body: '{"response":""}' } });
  assert.deepEqual(await queue.write("events.record", 20, { subscription, holder: "a", outcomes: [outcome(claimed ?? { uid: "" })] }), { held: true });
  const [row] = await queue.rows(subscription);
  assert.deepEqual([row?.state, row?.tries, row?.next_time, attemptsOf(row?.attempts ?? "")], [4, 1, null, [[1, 2, 200, ""]]]);
});
