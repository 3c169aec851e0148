import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DeliveriesService, DeliveryState } from "@moorage/api";
import type { Row } from "../../../kernel/src/store/index.ts";
import { addDeliveries, STATE } from "../../../server/test/support/deliveries.ts";
import {
  blamed,
  type Json,
  type Platform,
  reason,
  rows,
  startPlatform,
} from "../../../server/test/support/platform.ts";

const PATH = "/events/v2/deliveries";
// The deliveries of these tests are on one day in the past.
const DAY_MS = Date.parse("2026-01-01T00:00:00Z");
const { getDelivery, listDeliveries } = DeliveriesService.method;
type Fields = Partial<Row<"deliveries">>;

let platform: Platform;
let owner: string;

before(async () => {
  platform = await startPlatform({
    MOORAGE_EVENTS_CONCURRENCY: "0",
    MOORAGE_EVENTS_PREFIX: "com.example.hub",
    MOORAGE_ALLOW_PRIVATE_NETWORK: "true",
  });
  owner = await platform.token();
});
after(() => platform.close());

const newGroup = async (): Promise<string> => (await platform.group(platform.organization)).uid;
/** A subscription whose filter matches no event of these tests. */
const newSubscription = async (group?: string): Promise<string> =>
  (await platform.subscription(group ?? (await newGroup()), { typePrefixes: ["com.example.hub.none."] })).uid;
const add = (subscription: string, ...fields: Fields[]): Promise<string[]> =>
  platform.transact((tx) => addDeliveries(tx, subscription, fields));
const iso = (ms: number): string => new Date(DAY_MS + ms).toISOString();
/** Whether the change made it due: a call reads the time of day and the agreed time one after the other. */
const isDue = ({
  next_time: next,
  update_time: changed,
}: Pick<Row<"deliveries">, "next_time" | "update_time">): boolean => next !== null && Math.abs(next - changed) < 1000;
const redeliver = (subscription: string, body: object): Promise<Json> =>
  platform.ok("POST", `/events/v2/subscriptions/${subscription}:redeliver`, body);

async function rowOf(uid: string): Promise<Row<"deliveries">> {
  // Copied, because rows of an engine have another prototype than object literals.
  return {
    ...(await platform.reader.selectFrom("deliveries").selectAll().where("uid", "=", uid).executeTakeFirstOrThrow()),
  };
}

async function listed(query: string, token = owner): Promise<string[]> {
  const answer = await platform.call("GET", `${PATH}?${query}`, { token });
  assert.equal(answer.status, 200, answer.text);
  return (await rows(answer.body, "deliveries")).map(({ uid }) => uid);
}

/** The deliveries of all pages of a list. */
async function paged(query: string, size: number): Promise<string[]> {
  const found: string[] = [];
  for (let token = ""; ;) {
    const page = await platform.ok("GET", `${PATH}?${query}&pageSize=${size}&pageToken=${token}`);
    found.push(...(await rows(page, "deliveries")).map(({ uid }) => uid));
    token = page.nextPageToken;
    if (token === "") return found;
  }
}

test("a delivery has the outcome of its event, and the time of the next attempt only while it waits", async () => {
  const subscription = await newSubscription();
  const tried: Fields = {
    state: STATE.retrying,
    tries: 2,
    step: 2,
    last_status: 503,
    last_error: "the sink answered 503",
    last_latency_ms: 1250,
    next_time: DAY_MS + 60_000,
    create_time: DAY_MS,
    update_time: DAY_MS + 5000,
    attempts: JSON.stringify([
      [DAY_MS + 1000, 15_000, 0, "no answer in time"],
      [DAY_MS + 3000, 1250, 503, "the sink answered 503"],
    ]),
  };
  const [uid = "", fresh = "", sending = ""] = await add(
    subscription,
    tried,
    { create_time: DAY_MS },
    { state: STATE.sending, tries: 1, create_time: DAY_MS },
  );
  const { event_id: eventId, event_subject: eventSubject } = await rowOf(uid);
  assert.deepEqual(await platform.ok("GET", `${PATH}/${uid}`), {
    uid,
    eventId,
    eventType: "com.example.hub.registry.push.v1",
    eventSubject,
    state: "DELIVERY_STATE_RETRYING",
    tries: 2,
    lastStatus: 503,
    lastError: "the sink answered 503",
    lastLatency: "1.250s",
    nextTryTime: iso(60_000),
    createTime: iso(0),
    updateTime: iso(5000),
    attempts: [
      { startTime: iso(1000), latency: "15s", status: 0, error: "no answer in time" },
      { startTime: iso(3000), latency: "1.250s", status: 503, error: "the sink answered 503" },
    ],
  });
  const waiting = await platform.ok("GET", `${PATH}/${fresh}`);
  assert.deepEqual(
    [waiting["state"], waiting["nextTryTime"], waiting["lastLatency"], waiting["attempts"]],
    ["DELIVERY_STATE_PENDING", iso(0), undefined, []],
  );
  const { message } = await platform.grpc.call(getDelivery, { uid: sending }, owner);
  assert.deepEqual([message?.state, message?.tries, message?.nextTryTime], [DeliveryState.SENDING, 1, undefined]);
});

test("deliveries are listed newest or oldest first; no page repeats or omits deliveries of the same time", async () => {
  const group = await newGroup();
  const [one, other] = [await newSubscription(group), await newSubscription(group)];
  // Three of each kind at each of three times.
  const times = [0, 0, 0, 1, 1, 1, 2, 2, 2].map((ms) => ({ create_time: DAY_MS + ms }));
  await add(one, ...times);
  await add(other, ...times);
  const all = await platform.reader
    .selectFrom("deliveries")
    .select(["uid", "parent", "create_time"])
    .where("parent", "in", [one, other])
    .execute();
  const oldestFirst = all.toSorted((a, b) => a.create_time - b.create_time || (a.uid < b.uid ? -1 : 1));
  const uids = (subscription?: string): string[] =>
    oldestFirst.filter(({ parent }) => subscription === undefined || parent === subscription).map(({ uid }) => uid);
  for (const size of [1, 2, 5, 50]) {
    assert.deepEqual(await paged(`uidp.childrenOf=${one}`, size), uids(one).toReversed());
    assert.deepEqual(await paged(`uidp.childrenOf=${one}&orderBy=createTime`, size), uids(one));
    assert.deepEqual(await paged(`uidp.descendantsOf=${group}`, size), uids().toReversed());
    assert.deepEqual(await paged(`uidp.descendantsOf=${group}&orderBy=created_at`, size), uids());
    assert.deepEqual(
      await paged(`uidp.descendantsOf=${group}&state=DELIVERY_STATE_PENDING`, size),
      uids().toReversed(),
    );
  }
  const skipped = await platform.ok("GET", `${PATH}?uidp.descendantsOf=${group}&pageSize=2&skip=13`);
  assert.deepEqual(
    (await rows(skipped, "deliveries")).map(({ uid }) => uid),
    uids().toReversed().slice(13, 15),
  );
  assert.deepEqual([skipped.totalCount, skipped.skipped], ["18", 13]);
});

test("the deliveries of many subscriptions are one list, up to a limit that the error states", async () => {
  const group = await newGroup();
  const row = await platform.reader
    .selectFrom("subscriptions")
    .selectAll()
    .where("uid", "=", await newSubscription(group))
    .executeTakeFirstOrThrow();
  const subscriptions = Array.from({ length: 399 }, (_, at) => ({
    ...row,
    uid: `${group}/${at.toString(16).padStart(16, "0")}`,
  }));
  await platform.transact(async (tx) => {
    await tx.insertInto("subscriptions").values(subscriptions).execute();
    for (const [at, { uid }] of subscriptions.entries()) await addDeliveries(tx, uid, [{ create_time: DAY_MS + at }]);
  });
  const found = await paged(`uidp.descendantsOf=${group}&state=DELIVERY_STATE_PENDING&startTime=${iso(0)}`, 200);
  assert.deepEqual(
    found.map((uid) => uid.slice(0, -17)),
    subscriptions.map(({ uid }) => uid).toReversed(),
  );
  await platform.transact((tx) =>
    tx
      .insertInto("subscriptions")
      .values({ ...row, uid: `${group}/${"f".repeat(16)}` })
      .execute(),
  );
  const [uid = ""] = await add(row.uid, {});
  const answer = await platform.call("GET", `${PATH}?uidp.descendantsOf=${group}`, { token: owner });
  assert.deepEqual([answer.status, blamed(answer)], [400, ["uidp"]]);
  assert.deepEqual(await listed(`uidp.ids=${uid}`), [uid]);
  // Other tests list all deliveries, so these are removed.
  await platform.transact((tx) => tx.deleteFrom("subscriptions").where("parent", "=", group).execute());
});

test("a list has exactly the deliveries that its filters match", async () => {
  const group = await newGroup();
  const [one, other] = [await newSubscription(group), await newSubscription(group)];
  const eventId = "5b0c6d0e-6a57-4b1e-9d0b-0c5a3e0f7a11";
  const states = Object.values(STATE).map((state, at) => ({ state, create_time: DAY_MS + at * 1000 }));
  const made = await add(one, ...states, {
    create_time: DAY_MS + 9000,
    event_type: "api.iam.group.created.v1",
    event_id: eventId,
  });
  const [theirs = ""] = await add(other, { create_time: DAY_MS + 9000, event_id: eventId, state: STATE.dead });
  const [pending = "", sending = "", retrying = "", delivered = "", dead = "", created = ""] = made;
  const within = `uidp.descendantsOf=${group}`;
  for (const [query, expected] of [
    [within, 7],
    [`uidp.childrenOf=${one}`, 6],
    [`uidp.childrenOf=${group}`, 0],
    ["uidp.inRoot=true", 0],
    [`uidp.descendantsOf=${dead}`, [dead]],
    [`uidp.ids=${dead}&uidp.ids=${theirs}`, [dead, theirs]],
    [`uidp.ids=${dead}&uidp.childrenOf=${other}`, 0],
    [`uidp.ids=nothing`, 0],
    [`uidp.ancestorsOf=${dead}`, 0],
    [`uidp.descendantsOf=${group.slice(0, 40)}/${"0".repeat(16)}`, 0],
    [`${within}&state=DELIVERY_STATE_PENDING`, [pending, created]],
    [`${within}&state=DELIVERY_STATE_SENDING`, [sending]],
    [`${within}&state=DELIVERY_STATE_RETRYING`, [retrying]],
    [`${within}&state=DELIVERY_STATE_DELIVERED`, [delivered]],
    [`${within}&state=DELIVERY_STATE_DEAD`, [dead, theirs]],
    [`uidp.childrenOf=${one}&state=DELIVERY_STATE_DEAD`, [dead]],
    [`eventId=${eventId}`, [created, theirs]],
    [`eventId=${eventId}&uidp.childrenOf=${other}`, [theirs]],
    ["eventId=nothing", 0],
    [`eventId=${eventId}&state=DELIVERY_STATE_DEAD`, [theirs]],
    [`${within}&eventType=com.example.hub.api.iam.group.created.v1`, [created]],
    [`${within}&eventType=org.example.hub.api.iam.group.created.v1`, 0],
    [`${within}&event_type=com.example.hub.api.iam.group`, 0],
    [`${within}&startTime=${iso(1000)}&endTime=${iso(3000)}`, [sending, retrying, delivered]],
    [`${within}&startTime=${iso(8999)}`, [created, theirs]],
    [`${within}&endTime=${iso(0)}`, [pending]],
    [`${within}&startTime=${iso(0)}&endTime=${iso(4000)}&state=DELIVERY_STATE_DEAD`, [dead]],
  ] as const) {
    const page = await platform.ok("GET", `${PATH}?${query}`);
    const found = (await rows(page, "deliveries")).map(({ uid }) => uid);
    assert.deepEqual(
      [found.length, page.totalCount],
      [typeof expected === "number" ? expected : expected.length, String(found.length)],
      query,
    );
    if (typeof expected !== "number") assert.deepEqual(found.toSorted(), [...expected].toSorted(), query);
  }
});

test("an invalid request is rejected with the name of the field", async () => {
  for (const [query, field] of [
    ["orderBy=tries", "order_by"],
    ["pageSize=-1", "page_size"],
    ["pageToken=x", "page_token"],
    ["skip=-1", "skip"],
    ["state=NEVER", "state"],
    ["startTime=yesterday", "start_time"],
  ] as const) {
    const answer = await platform.call("GET", `${PATH}?${query}`, { token: owner });
    assert.deepEqual([answer.status, blamed(answer)], [400, [field]], query);
  }
  for (const [request, fields] of [
    [{ state: 99 as DeliveryState }, ["state"]],
    [{ startTime: { seconds: 1n << 60n } }, ["start_time"]],
    [{ endTime: { seconds: -(1n << 60n) }, state: 99 as DeliveryState }, ["state", "end_time"]],
  ] as const) {
    const { error } = await platform.grpc.call(listDeliveries, request, owner);
    assert.ok(error);
    assert.deepEqual([error.code, blamed({ body: error })], [3, fields]);
  }
  const subscription = await newSubscription();
  await add(subscription, {}, {});
  const { nextPageToken } = await platform.ok("GET", `${PATH}?uidp.childrenOf=${subscription}&pageSize=1`);
  const other = await platform.call(
    "GET",
    `${PATH}?uidp.childrenOf=${subscription}&state=DELIVERY_STATE_DEAD&pageToken=${nextPageToken}`,
    { token: owner },
  );
  assert.deepEqual(blamed(other), ["page_token"]);
});

test("only identities that may list the subscriptions of a group see their deliveries", async () => {
  const group = await newGroup();
  const [uid = ""] = await add(await newSubscription(group), { state: STATE.dead });
  const viewer = await platform.token(await platform.identity(group, "viewer"));
  const sibling = await platform.token(await platform.identity(await newGroup(), "owner"));
  for (const query of [
    `uidp.descendantsOf=${group}`,
    `uidp.ids=${uid}`,
    `uidp.descendantsOf=${uid}`,
    "state=DELIVERY_STATE_DEAD",
  ]) {
    assert.deepEqual([await listed(query, viewer), await listed(query, sibling)], [[uid], []], query);
  }
  for (const [token, get, redelivered] of [
    [viewer, 200, 403],
    [sibling, 404, 404],
  ] as const) {
    assert.equal((await platform.call("GET", `${PATH}/${uid}`, { token })).status, get);
    const answer = await platform.call("POST", `${PATH}/${uid}:redeliver`, { token });
    assert.deepEqual(
      [answer.status, reason(answer)],
      [redelivered, redelivered === 403 ? "PERMISSION_DENIED" : "NOT_FOUND"],
    );
  }
});

test("a redelivery begins a new schedule and keeps the attempts; deliveries that wait or are being sent are left as they are", async () => {
  const subscription = await newSubscription();
  const attempts = JSON.stringify([[DAY_MS, 5, 500, "the sink answered 500"]]);
  const failed = {
    tries: 11,
    step: 11,
    last_status: 500,
    last_error: "the sink answered 500",
    last_latency_ms: 5,
    attempts,
  };
  const ended = { ...failed, create_time: DAY_MS, update_time: DAY_MS };
  for (const fields of [
    { state: STATE.dead },
    { state: STATE.delivered },
    { state: STATE.retrying, next_time: DAY_MS + 90_000_000 },
  ]) {
    const [uid = ""] = await add(subscription, { ...ended, ...fields });
    const { nextTryTime, updateTime, ...redelivered } = await platform.ok("POST", `${PATH}/${uid}:redeliver`);
    assert.deepEqual([redelivered["state"], redelivered["tries"]], ["DELIVERY_STATE_PENDING", 11]);
    const row = await rowOf(uid);
    const updateMs = Date.parse(updateTime);
    assert.ok(isDue({ next_time: Date.parse(String(nextTryTime)), update_time: updateMs }), String(nextTryTime));
    assert.ok(isDue(row));
    assert.deepEqual(row, {
      ...row,
      state: STATE.pending,
      step: 0,
      tries: 11,
      attempts,
      update_time: updateMs,
      create_time: DAY_MS,
    });
    assert.ok(updateMs > DAY_MS);
  }
  for (const state of [STATE.pending, STATE.sending]) {
    const [uid = ""] = await add(subscription, { ...ended, state, next_time: DAY_MS + 5 });
    const row = await rowOf(uid);
    assert.equal((await platform.ok("POST", `${PATH}/${uid}:redeliver`)).updateTime, iso(0));
    assert.deepEqual(await rowOf(uid), row);
  }
});

test("a time range is redelivered, both ends included, in the requested states", async () => {
  const [subscription, other] = [await newSubscription(), await newSubscription()];
  const states = Object.values(STATE);
  const at = (ms: number): Fields[] =>
    states.map((state) => ({ state, create_time: DAY_MS + ms, update_time: DAY_MS }));
  const made = await add(subscription, ...at(0), ...at(1), ...at(2), ...at(3));
  await add(other, ...at(1));
  const changed = async (): Promise<[number, number][]> => {
    const found = await platform.reader
      .selectFrom("deliveries")
      .selectAll()
      .where("parent", "in", [subscription, other])
      .where("update_time", ">", DAY_MS)
      .execute();
    for (const row of found) {
      assert.deepEqual({ ...row }, { ...row, parent: subscription, state: STATE.pending, step: 0 });
      assert.ok(isDue(row), String(row.next_time));
    }
    await platform.transact((tx) =>
      tx.updateTable("deliveries").set({ update_time: DAY_MS }).where("parent", "=", subscription).execute(),
    );
    return found
      .map(({ uid, create_time: time }): [number, number] => [
        time - DAY_MS,
        states[made.indexOf(uid) % states.length] ?? 0,
      ])
      .toSorted(([a, b], [c, d]) => a - c || b - d);
  };
  assert.deepEqual(
    await redeliver(subscription, { startTime: iso(1), endTime: iso(2), states: ["DELIVERY_STATE_DEAD"] }),
    { count: 2 },
  );
  assert.deepEqual(await changed(), [
    [1, STATE.dead],
    [2, STATE.dead],
  ]);
  assert.deepEqual(
    await redeliver(subscription, { startTime: iso(1), endTime: iso(2), states: ["DELIVERY_STATE_RETRYING"] }),
    { count: 2 },
  );
  assert.deepEqual(await changed(), [
    [1, STATE.retrying],
    [2, STATE.retrying],
  ]);
  assert.deepEqual(
    await redeliver(subscription, { startTime: iso(1), endTime: iso(1) }),
    { count: 1 },
    "the dead one waits by now",
  );
  assert.deepEqual(await changed(), [[1, STATE.delivered]]);
  assert.deepEqual(await redeliver(subscription, { startTime: iso(3) }), { count: 2 });
  assert.deepEqual(await changed(), [
    [3, STATE.delivered],
    [3, STATE.dead],
  ]);
  assert.deepEqual(await redeliver(subscription, { startTime: iso(4) }), { count: 0 });
  for (const [body, fields] of [
    [{}, ["startTime"]],
    [{ startTime: iso(2), endTime: iso(1) }, ["endTime"]],
    [
      { startTime: iso(1), states: ["DELIVERY_STATE_DEAD", "DELIVERY_STATE_PENDING", "DELIVERY_STATE_SENDING", 0] },
      ["states[1]", "states[2]", "states[3]"],
    ],
  ] as const) {
    const answer = await platform.call("POST", `/events/v2/subscriptions/${subscription}:redeliver`, {
      token: owner,
      body,
    });
    assert.deepEqual([answer.status, blamed(answer)], [400, fields]);
  }
});

test("with very many deliveries a list does not count all, and a redelivery in parts sends each exactly once", async () => {
  const subscription = await newSubscription();
  // Seven in each millisecond, so that the limit falls within one; then a millisecond with more than the limit.
  const spread = Array.from({ length: 10_500 }, (_, at) => ({
    state: STATE.dead,
    create_time: DAY_MS + Math.floor(at / 7),
  }));
  await add(subscription, ...spread, { create_time: DAY_MS, state: STATE.delivered });
  const dead = `${PATH}?uidp.childrenOf=${subscription}&state=DELIVERY_STATE_DEAD&pageSize=1`;
  const page = await platform.ok("GET", dead);
  assert.deepEqual([page.totalCount, page.nextPageToken === ""], [undefined, false]);
  assert.equal((await platform.ok("GET", `${dead}&endTime=${iso(100)}`)).totalCount, "707");

  const body = { states: ["DELIVERY_STATE_DEAD"] };
  const first = await redeliver(subscription, { ...body, startTime: iso(0), endTime: iso(5000) });
  assert.deepEqual(first, { count: 9996, nextStartTime: iso(1428) });
  // The first deliveries become dead letters again before the next ones are requested.
  const die = (changes: Fields): Promise<unknown> =>
    platform.transact((tx) =>
      tx
        .updateTable("deliveries")
        .set({ state: STATE.dead, next_time: null, ...changes })
        .where("parent", "=", subscription)
        .where("state", "=", STATE.pending)
        .execute(),
    );
  await die({});
  assert.deepEqual(await redeliver(subscription, { ...body, startTime: first["nextStartTime"], endTime: iso(5000) }), {
    count: 504,
  });

  await redeliver(subscription, { startTime: iso(0), endTime: iso(1000) });
  await redeliver(subscription, { startTime: iso(1001), endTime: iso(5000) });
  await die({ create_time: DAY_MS });
  await add(subscription, { create_time: DAY_MS + 1, state: STATE.dead });
  assert.deepEqual(await redeliver(subscription, { ...body, startTime: iso(0), endTime: iso(5000) }), {
    count: 10_501,
    nextStartTime: iso(1),
  });
  assert.deepEqual(await redeliver(subscription, { ...body, startTime: iso(1), endTime: iso(5000) }), { count: 1 });
});
