import assert from "node:assert/strict";
import { test } from "node:test";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { backlogs, claimDeliveries, dueSubscriptions, releaseLeases } from "../../src/events/index.ts";
import { openEventQueue, outcome } from "../../../server/test/support/event-queue.ts";

// How processes share the deliveries to send, at times that the test gives. Leases in these tests last 30 seconds.

const [PENDING, SENDING, RETRYING, DELIVERED, DEAD] = [1, 2, 3, 4, 5];

test("a claimed delivery is marked as being attempted, and its outcome is recorded", async (t) => {
  const queue = await openEventQueue(t);
  const group = newUid("");
  const subscription = await queue.subscribe(group, {
    secret: "new",
    old_secret: "old",
    old_secret_expire_time: 11,
    allowed_rate: 60,
    handshake_time: 4,
  });
  const [id] = await queue.emit([{ subject: group, group }], { nowMs: 3 });
  await queue.sequence(5);
  const first = await queue.write(claimDeliveries, 10, { subscription, holder: "a", holdMs: 30_000, limit: 9 });
  const uid = `${subscription}/0000000000000001`;
  const event = {
    id,
    type: "test.v1",
    subject: group,
    group,
    number: 1,
    timeMs: 3,
    actor: '{"subject":"","act":{}}',
    body: '{"response":""}',
  };
  assert.deepEqual(first, {
    held: true,
    target: {
      subscription,
      group,
      sink: "https://sink.example.com/",
      secrets: ["new", "old"],
      allowedRate: 60,
      format: 0,
      handshakeMs: 4,
    },
    deliveries: [{ uid, step: 0, event }],
  });
  const facts = async () => {
    const [row] = await queue.rows(subscription);
    return (
      row && [
        row.state,
        row.tries,
        row.step,
        row.next_time,
        row.last_status,
        row.last_error,
        row.last_latency_ms,
        row.attempts,
        row.update_time,
      ]
    );
  };
  assert.deepEqual(await facts(), [SENDING, 1, 0, 5, 0, "", 0, "[]", 10], "before anything is sent");
  const failed = outcome({ uid }, { startMs: 12.4, latencyMs: 7.6, status: 503, error: "x\0\ud800y", nextMs: 5_000.4 });
  assert.equal(await queue.record(subscription, 20, { outcomes: [failed] }), true);
  assert.deepEqual(await facts(), [RETRYING, 1, 1, 5_000, 503, "x\ufffdy", 8, '[[12,8,503,"x\ufffdy"]]', 20]);
  assert.deepEqual(await queue.claim(subscription, 4_999), []);
  const again = await queue.write(claimDeliveries, 5_000, { subscription, holder: "a", holdMs: 30_000, limit: 9 });
  assert.deepEqual(again.held && [again.target.secrets, again.deliveries.map(({ step }) => step)], [["new"], [1]]);
  await queue.record(subscription, 5_001, { outcomes: [outcome({ uid }, { status: 0, error: "refused" })] });
  assert.deepEqual((await facts())?.slice(0, 5), [DEAD, 2, 2, null, 0]);
  await queue.record(subscription, 5_002, { outcomes: [outcome({ uid })] });
  assert.equal((await facts())?.[0], DEAD, "it is not being sent");
});

test("a claimed delivery that was not attempted is due as before and counts no attempt; the others are delivered", async (t) => {
  const queue = await openEventQueue(t);
  const [one, two] = [await queue.subscribe(newUid("")), await queue.subscribe(newUid(""))];
  const uids = await queue.fill(one, 3, 5);
  const [foreign = ""] = await queue.fill(two, 1, 5);
  assert.deepEqual(
    (await queue.claim(one, 10, { limit: 2 }))?.map(({ uid }) => uid),
    uids.slice(0, 2),
  );
  await queue.claim(two, 10);
  const [first = "", second = ""] = uids;
  const outcomes = [first, foreign, `${one}/ffffffffffffffff`].map((uid) => outcome({ uid }));
  await queue.record(one, 11, { unsent: [second, foreign], outcomes });
  const facts = (await queue.rows(one)).map(({ state, tries, next_time: next }) => [state, tries, next]);
  assert.deepEqual(facts, [
    [DELIVERED, 1, null],
    [PENDING, 0, 5],
    [PENDING, 0, 5],
  ]);
  assert.deepEqual(await queue.states(two), [SENDING], "who sends for one subscription says nothing of another");
  await queue.claim(one, 12, { limit: 1 });
  await queue.record(one, 13, { outcomes: [outcome({ uid: second }, { error: "no", nextMs: 20 })] });
  await queue.claim(one, 20);
  await queue.record(one, 21, { unsent: [second], release: true });
  const row = (await queue.rows(one))[1];
  assert.deepEqual([row?.state, row?.tries, row?.step, row?.next_time], [RETRYING, 1, 1, 20]);
});

test("a claim takes new deliveries and retries in equal shares, the longest waiting first", async (t) => {
  const queue = await openEventQueue(t);
  const subscription = await queue.subscribe(newUid(""));
  const failed = await queue.fill(subscription, 4, 1);
  await queue.claim(subscription, 2);
  await queue.record(subscription, 3, {
    outcomes: failed.map((uid, at) => outcome({ uid }, { error: "no", nextMs: 50 - at })),
  });
  const fresh = await queue.fill(subscription, 4, 10);
  const uids = async (limit: number) => (await queue.claim(subscription, 100, { limit }))?.map(({ uid }) => uid);
  assert.deepEqual(await uids(4), [fresh[0], fresh[1], failed[3], failed[2]]);
  assert.deepEqual(await uids(0), []);
  assert.deepEqual(await uids(9), [fresh[2], fresh[3], failed[1], failed[0]]);
  assert.deepEqual(await uids(9), []);
});

test("one process at a time sends for a subscription, until its lease ends or is released", async (t) => {
  const queue = await openEventQueue(t);
  const subscription = await queue.subscribe(newUid(""));
  const [first = "", second = "", third = ""] = await queue.fill(subscription, 3);
  const claimed = async (holder: string, nowMs: number, limit = 1) =>
    (await queue.claim(subscription, nowMs, { holder, limit }))?.map(({ uid }) => uid);
  const due = (holder: string, nowMs: number) => dueSubscriptions(queue.reader, { agreedMs: nowMs, holder, limit: 9 });
  const attempts = async () => (await queue.rows(subscription)).map((row) => row.attempts);
  assert.deepEqual(await claimed("a", 1_000), [first]);
  assert.equal(await claimed("b", 30_999), undefined);
  assert.deepEqual([await due("a", 30_999), await due("b", 30_999)], [[subscription], []]);
  assert.deepEqual(await claimed("a", 30_999), [second], "what it sends itself is not interrupted");
  assert.deepEqual(await attempts(), ["[]", "[]", "[]"]);
  assert.deepEqual(await due("b", 60_999), [subscription], "its time is over");
  assert.deepEqual(await claimed("b", 60_999, 3), [first, second, third]);
  assert.deepEqual(await attempts(), ['[[1000,0,0,"interrupted"]]', '[[30999,0,0,"interrupted"]]', "[]"]);
  const facts = (await queue.rows(subscription)).map(({ tries, step, last_error: error }) => [tries, step, error]);
  assert.deepEqual(facts, [
    [2, 0, "interrupted"],
    [2, 0, "interrupted"],
    [1, 0, ""],
  ]);
  const late = { holder: "a", outcomes: [outcome({ uid: first })], release: true, disable: "gone" };
  assert.equal(await queue.record(subscription, 61_000, late), false, "another sends for it");
  assert.deepEqual(await queue.states(subscription), [SENDING, SENDING, SENDING]);
  assert.equal(await claimed("a", 61_001), undefined);
  assert.equal(
    await queue.record(subscription, 99_999, { holder: "b", outcomes: [outcome({ uid: first })] }),
    true,
    "late, but nobody has taken it",
  );
  assert.deepEqual(await due("b", 99_999), [subscription], "it has ended with two unfinished");
  assert.deepEqual(await claimed("b", 99_999, 0), [], "its own are interrupted too once its time is over");
  assert.deepEqual(await queue.states(subscription), [DELIVERED, RETRYING, RETRYING]);
  await queue.record(subscription, 100_000, { holder: "b", release: true });
  assert.deepEqual(await claimed("a", 100_001, 9), [second, third]);
  await queue.write(releaseLeases, 100_002, {});
  assert.deepEqual(await due("c", 100_003), [subscription]);
  assert.deepEqual(await claimed("c", 100_003, 9), [second, third]);
});

test("of many processes that claim a subscription concurrently one gets it, and no other sends its deliveries", async (t) => {
  const queue = await openEventQueue(t, 3);
  const subscriptions = await Promise.all(Array.from({ length: 3 }, () => queue.subscribe(newUid(""))));
  for (const subscription of subscriptions) await queue.fill(subscription, 20);
  const taken: string[] = [];
  await Promise.all(
    subscriptions.flatMap((subscription) =>
      Array.from({ length: 3 }, async (_, process) => {
        const holder = `holder ${process}`;
        for (let turn = 0; turn < 8; turn += 1) {
          const claimed = await queue.claim(subscription, 1_000 + turn, { holder, process, limit: 5 });
          taken.push(...(claimed?.map(({ uid }) => uid) ?? []));
          const isLast = turn % 3 === 2;
          if (claimed === undefined) continue;
          const outcomes = claimed.map((one) => outcome(one));
          assert.ok(await queue.record(subscription, 1_000 + turn, { holder, process, outcomes, release: isLast }));
        }
      }),
    ),
  );
  for (const subscription of subscriptions) {
    const rows = await queue.rows(subscription);
    assert.ok(
      rows.every(
        ({ attempts, tries, state }) =>
          !attempts.includes("interrupted") && (state === DELIVERED ? tries === 1 : tries === 0),
      ),
    );
  }
  assert.equal(new Set(taken).size, taken.length);
  assert.ok(taken.length >= 3 * 8);
});

test("nothing is claimed for a paused, disabled or deleted subscription, and the outcomes of its last attempts are recorded", async (t) => {
  const queue = await openEventQueue(t);
  const subscription = await queue.subscribe(newUid(""));
  const [first = "", second = ""] = await queue.fill(subscription, 2, 5);
  const due = () => dueSubscriptions(queue.reader, { agreedMs: 100, holder: "a", limit: 9 });
  const set = (state: number) =>
    queue.db.updateTable("subscriptions").set({ state }).where("uid", "=", subscription).execute();
  await queue.claim(subscription, 10, { limit: 1 });
  await set(2);
  assert.deepEqual(await due(), []);
  assert.equal(await queue.claim(subscription, 11), undefined);
  const gone = outcome({ uid: first }, { status: 410, error: "gone", nextMs: 50 });
  assert.equal(await queue.record(subscription, 12, { outcomes: [gone], disable: "it answered 410" }), true);
  const facts = async () => {
    const row = await queue.reader.selectFrom("subscriptions").selectAll().executeTakeFirstOrThrow();
    return [row.state, row.state_reason, row.allowed_rate, row.handshake_time, row.update_time];
  };
  assert.deepEqual(await facts(), [2, "", 0, null, 0], "somebody paused it, and so it stays");
  await set(1);
  assert.deepEqual(await due(), [subscription]);
  await queue.claim(subscription, 20, { limit: 1 });
  await queue.record(subscription, 21, { handshake: { atMs: 19, allowedRate: 120 }, disable: "it answered 410" });
  assert.deepEqual(await facts(), [3, "it answered 410", 120, 19, 21]);
  await queue.record(subscription, 22, { disable: "it answered 410" });
  await queue.sequence(22);
  const updates = (await queue.events()).filter(({ type }) => type === "api.events.subscription.updated.v1");
  const stateReasonOf = (body: string): string => (JSON.parse(body) as { stateReason: string }).stateReason;
  assert.deepEqual(
    updates.map(({ subject, actor }) => [subject, actor]),
    [[subscription, '{"subject":"","act":{"actor":"system"}}']],
  );
  assert.equal(stateReasonOf(updates[0]?.body ?? "{}"), "it answered 410");
  assert.ok(!updates[0]?.body.includes("secret"), "the event does not contain the secret");
  const entries = await queue.reader
    .selectFrom("audit_entries")
    .select(["method", "details"])
    .where("parent", "=", subscription)
    .execute();
  assert.deepEqual(
    entries.map(({ method, details }) => [method, details]),
    [["events.subscription.disable", '{"reason":"it answered 410"}']],
  );
  assert.equal(await queue.claim(subscription, 22), undefined);
  assert.deepEqual(await due(), []);
  await queue.db.deleteFrom("subscriptions").execute();
  assert.equal(await queue.claim(subscription, 23), undefined);
  assert.equal(
    await queue.record(subscription, 23, {
      outcomes: [outcome({ uid: second })],
      disable: "gone",
      handshake: { atMs: 1, allowedRate: 1 },
    }),
    true,
  );
  assert.deepEqual(await due(), []);
  assert.equal(await queue.claim(newUid(newUid("")), 24), undefined);
});

test("the last fifty attempts are retained", async (t) => {
  const queue = await openEventQueue(t);
  const subscription = await queue.subscribe(newUid(""));
  const [uid = ""] = await queue.fill(subscription, 1);
  for (let n = 1; n <= 53; n += 1) {
    await queue.claim(subscription, n);
    await queue.record(subscription, n, { outcomes: [outcome({ uid }, { startMs: n, error: "no", nextMs: n })] });
  }
  const [row] = await queue.rows(subscription);
  const attempts = JSON.parse(row?.attempts ?? "") as number[][];
  assert.deepEqual(
    [row?.tries, row?.step, attempts.length, attempts[0]?.[0], attempts.at(-1)?.[0]],
    [53, 53, 50, 4, 53],
  );
});

test("due subscriptions are listed with the longest waiting first, and waiting deliveries are counted", async (t) => {
  const queue = await openEventQueue(t);
  const [a, b, c, d] = await Promise.all(["a", "b", "c", "d"].map((letter) => queue.subscribe(letter.repeat(40))));
  const [, inB = "", inC = ""] = [
    await queue.fill(a ?? "", 1, 50),
    ...(await queue.fill(b ?? "", 1, 10)),
    ...(await queue.fill(c ?? "", 3, 30)),
  ];
  for (const [subscription, uid, nextMs] of [
    [b, inB, 70],
    [c, inC, 20],
  ] as const) {
    await queue.claim(subscription ?? "", 40, { limit: 1 });
    await queue.record(subscription ?? "", 41, { outcomes: [outcome({ uid }, { error: "no", nextMs })] });
  }
  const due = (nowMs: number, holder = "a", limit = 9) =>
    dueSubscriptions(queue.reader, { agreedMs: nowMs, holder, limit });
  assert.deepEqual(await due(19), []);
  assert.deepEqual(await due(49), [c]);
  assert.deepEqual(await due(69), [c, a]);
  assert.deepEqual(await due(70), [c, a, b]);
  assert.deepEqual(await due(70, "a", 2), [c, a]);
  assert.deepEqual(await due(70, "x"), [a], "the others are held");
  await queue.claim(c ?? "", 71, { limit: 1 });
  await queue.subscribe("e".repeat(40));
  await queue.fill(d ?? "", 1, 90);
  const counted = [
    { subscription: a, open: 1, oldestMs: 50 },
    { subscription: b, open: 1, oldestMs: 10 },
    { subscription: c, open: 3, oldestMs: 30 },
    { subscription: d, open: 1, oldestMs: 90 },
  ];
  assert.deepEqual(await backlogs(queue.reader, { limit: 9 }), counted);
  assert.deepEqual(await backlogs(queue.reader, { limit: 2 }), counted.slice(0, 2));
});
