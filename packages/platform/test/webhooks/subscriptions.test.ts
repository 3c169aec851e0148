import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { SubscriptionsService } from "@moorage/api";
import { createSecrets } from "../../../kernel/src/lib/secrets.ts";
import { resealSubscriptions, subscriptionPlace } from "../../src/events/subscriptions/secrets.ts";
import type { Row } from "../../../kernel/src/store/index.ts";
import { dropDatabase, openTestStore } from "../../../server/test/support/database.ts";
import { addDeliveries, STATE } from "../../../server/test/support/deliveries.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import {
  type Answer,
  blamed,
  type Json,
  type Platform,
  reason,
  rows,
  startPlatform,
} from "../../../server/test/support/platform.ts";

const PATH = "/events/v2/subscriptions";
const HOUR_MS = 3_600_000;
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const { createSubscription, getSubscription, rotateSubscriptionSecret, testSubscription } = SubscriptionsService.method;

/**
 * Private addresses are allowed on the first platform. The second allows none, and requires that a document is
 * accepted.
 */
let platform: Platform;
let closed: Platform;
let owner: string;

before(async () => {
  // Neither server sends events.
  const quiet = { MOORAGE_EVENTS_CONCURRENCY: "0" };
  const terms = [{ id: "hooks", label: "Hooks", url: "https://moorage.example.com/hooks", required: true }];
  [platform, closed] = await Promise.all([
    startPlatform({ ...quiet, MOORAGE_ALLOW_PRIVATE_NETWORK: "true" }),
    startPlatform(quiet, terms),
  ]);
  owner = await platform.token();
});
after(() => Promise.all([platform.close(), closed.close()]));

const newGroup = async (): Promise<string> => (await platform.group(platform.organization)).uid;
const act = (uid: string, verb: string, body?: object): Promise<Json> =>
  platform.ok("POST", `${PATH}/${uid}:${verb}`, body);
const create = (group: string, body: object, token = owner): Promise<Answer> =>
  platform.call("POST", `${PATH}/${group}`, { token, body });

async function rowOf(uid: string): Promise<Row<"subscriptions">> {
  return await platform.reader.selectFrom("subscriptions").selectAll().where("uid", "=", uid).executeTakeFirstOrThrow();
}

/** Waits until the event has its deliveries. */
async function deliveriesOf(eventId: string): Promise<Row<"deliveries">[]> {
  return await eventually(async () => {
    const found = await platform.reader.selectFrom("deliveries").selectAll().where("event_id", "=", eventId).execute();
    return found.length > 0 && found;
  });
}

test("the secret is returned once, and stored nowhere in clear", async () => {
  const group = await newGroup();
  const made = await platform.subscription(group, { secret: "whsec_mine", state: "SUBSCRIPTION_STATE_PAUSED" });
  const { uid, secret, ...rest } = made;
  assert.match(String(secret), SECRET);
  assert.deepEqual(
    [rest["sink"], rest["state"], rest["stateReason"], rest["allowedRate"]],
    ["http://127.0.0.1:9/", "SUBSCRIPTION_STATE_ACTIVE", "", 0],
  );
  assert.equal(uid.slice(0, uid.lastIndexOf("/")), group);
  assert.deepEqual(await platform.ok("GET", `${PATH}/${uid}`), { ...made, secret: "" });
  assert.deepEqual(await rows(platform.ok("GET", `${PATH}?uidp.childrenOf=${group}`), "subscriptions"), [
    { ...made, secret: "" },
  ]);
  assert.equal((await platform.grpc.call(getSubscription, { uid }, owner)).message?.secret, "");

  const { old_secret: old, secret: sealed } = await rowOf(uid);
  assert.deepEqual([old, sealed.startsWith("s1.")], ["", true]);
  const { message } = await platform.grpc.call(rotateSubscriptionSecret, { uid }, owner);
  assert.match(message?.secret ?? "", SECRET);
  assert.notEqual(message?.secret, secret);
  const { eventId } = await act(uid, "test");
  await deliveriesOf(String(eventId));
  const kept = JSON.stringify(
    await Promise.all(
      (["subscriptions", "audit_entries", "events", "event_outbox", "deliveries"] as const).map((table) =>
        platform.reader.selectFrom(table).selectAll().execute(),
      ),
    ),
  );
  assert.ok(kept.includes(uid));
  assert.ok(!kept.includes("whsec_"), "a secret is in the database as it is");
});

test("an invalid subscription is rejected with all its invalid fields", async () => {
  const group = await newGroup();
  const refused = async (body: object): Promise<string[]> => {
    const answer = await create(group, body);
    assert.deepEqual([answer.status, reason(answer)], [400, "INVALID_ARGUMENT"], JSON.stringify(body));
    return blamed(answer);
  };
  for (const sink of [
    "",
    "nowhere",
    "ftp://sink.example.com/",
    "https://",
    "//sink.example.com/",
    "https://me@sink.example.com/",
    "https://me:word@sink.example.com/",
    "https://:word@sink.example.com/",
    "https://sink.example.com/#part",
    "https://sink.example.com/#",
    "https://sink.example.com/a b",
    "https://sink.example.com:70000/",
    `https://sink.example.com/${"a".repeat(2048)}`,
    "https://sink.example.com/\u0000",
  ])
    assert.deepEqual(await refused({ sink }), ["sink"], sink);
  const sink = "https://sink.example.com/";
  const long = `dev.moorage.${"a".repeat(245)}`;
  const typePrefixes = ["", "registry.", "dev.moorage2.", "dev.moorage.%", long, "deva", "dev.moorage.registry."];
  assert.deepEqual(
    await refused({ sink, typePrefixes }),
    [0, 1, 2, 3, 4, 5].map((at) => `typePrefixes[${at}]`),
  );
  const subjectPrefixes = ["", group.slice(0, 30), `${group}/`, "*", group.toUpperCase(), group];
  assert.deepEqual(
    await refused({ sink, subjectPrefixes }),
    [0, 1, 2, 3, 4].map((at) => `subjectPrefixes[${at}]`),
  );
  assert.deepEqual(await refused({ sink, typePrefixes: Array.from({ length: 65 }, () => "dev.") }), ["typePrefixes"]);
  assert.deepEqual(await refused({ sink: "nowhere", typePrefixes: ["x"], subjectPrefixes: ["y"] }), [
    "sink",
    "typePrefixes[0]",
    "subjectPrefixes[0]",
  ]);
  const { error } = await platform.grpc.call(
    createSubscription,
    { parent: group, subscription: { sink: "nowhere", typePrefixes: ["x"] } },
    owner,
  );
  assert.ok(error);
  assert.deepEqual(blamed({ body: error }), ["sink", "typePrefixes[0]"]);

  const fields = {
    sink,
    typePrefixes: ["d", "dev.moorage", "dev.moorage.", "dev.moorage.registry.push.v1"],
    subjectPrefixes: [platform.organization, `${group}/${"0".repeat(16)}`],
  };
  const { uid } = await platform.subscription(group, fields);
  const kept = await platform.ok("GET", `${PATH}/${uid}`);
  assert.deepEqual(
    { sink: kept["sink"], typePrefixes: kept["typePrefixes"], subjectPrefixes: kept["subjectPrefixes"] },
    fields,
  );
});

test("unless the setting allows it, a sink with plain http or an address that is not public is rejected", async () => {
  const token = await closed.token();
  const ask = (sink: string, group = closed.organization): Promise<Answer> =>
    closed.call("POST", `${PATH}/${group}`, { token, body: { sink } });
  for (const sink of [
    "https://127.0.0.1/",
    "https://10.0.0.1/",
    "https://192.168.0.1:8443/",
    "https://169.254.169.254/latest/meta-data",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[64:ff9b::169.254.169.254]/",
    "https://[fe80::1]/",
    "https://[fd00::1]/",
    "https://localhost/",
    "https://localhost.:8443/",
    "http://127.0.0.1/",
    "http://sink.example.com/",
  ]) {
    const answer = await ask(sink);
    assert.deepEqual([answer.status, blamed(answer)], [400, ["sink"]], sink);
    assert.doesNotMatch(answer.body.message, /127\.0\.0\.1|::1/, "the message does not show the address of the name");
  }
  const { error } = await closed.grpc.call(
    createSubscription,
    { parent: closed.organization, subscription: { sink: "https://localhost/" } },
    token,
  );
  assert.equal((error as { code: number }).code, 3);
  // A public address passes this check and fails because the document is not accepted.
  assert.equal(reason(await ask("https://9.9.9.9/")), "FAILED_PRECONDITION");
  await closed.ok("POST", `/iam/v2/terms/${closed.organization}`, { documentIds: ["hooks"] });
  assert.equal((await ask("https://9.9.9.9/")).status, 200);
  // The error shows whether a name has a private address, so only callers who may create a subscription get it.
  const viewer = await closed.token(await closed.identity(closed.organization, "viewer"));
  assert.equal(
    (
      await closed.call("POST", `${PATH}/${closed.organization}`, {
        token: viewer,
        body: { sink: "https://localhost/" },
      })
    ).status,
    403,
  );
});

test("a viewer sees the subscriptions and cannot create one; the owner of a sibling group sees none", async () => {
  const [group, sibling] = [await newGroup(), await newGroup()];
  const { uid } = await platform.subscription(group);
  const viewer = await platform.token(await platform.identity(group, "viewer"));
  const editor = await platform.token(await platform.identity(group, "editor"));
  const other = await platform.token(await platform.identity(sibling, "owner"));
  const list = async (token: string): Promise<string[]> => {
    const answer = await platform.call("GET", `${PATH}?uidp.descendantsOf=${platform.organization}`, { token });
    return (await rows(answer.body, "subscriptions")).map((each) => each.uid);
  };
  assert.deepEqual([await list(viewer), await list(editor), await list(other)], [[uid], [uid], []]);
  const sink = "http://127.0.0.1:9/";
  for (const [token, made, paused] of [
    [viewer, 403, 403],
    [other, 404, 404],
    [editor, 200, 200],
  ] as const) {
    assert.equal((await create(group, { sink }, token)).status, made);
    assert.equal((await platform.call("POST", `${PATH}/${uid}:pause`, { token })).status, paused);
  }
});

test("a subscription is paused and resumed; after the sink disabled it, resuming sends the handshake again", async () => {
  const { uid } = await platform.subscription(await newGroup());
  const { updateTime } = await act(uid, "resume");
  assert.equal((await act(uid, "resume")).updateTime, updateTime, "nothing changes where nothing is to change");
  platform.clock.offsetMs += 1000;
  const paused = await act(uid, "pause");
  assert.equal(paused["state"], "SUBSCRIPTION_STATE_PAUSED");
  assert.ok(paused.updateTime > updateTime);
  assert.deepEqual(await act(uid, "pause"), paused);
  assert.equal((await act(uid, "resume"))["state"], "SUBSCRIPTION_STATE_ACTIVE");

  await platform.transact((tx) =>
    tx
      .updateTable("subscriptions")
      .set({ state: 3, state_reason: "the sink answered 410", handshake_time: 5, allowed_rate: 10 })
      .where("uid", "=", uid)
      .execute(),
  );
  const disabled = await act(uid, "pause");
  assert.deepEqual(
    [disabled["state"], disabled["stateReason"]],
    ["SUBSCRIPTION_STATE_DISABLED", "the sink answered 410"],
  );
  const resumed = await act(uid, "resume");
  assert.deepEqual([resumed["state"], resumed["stateReason"]], ["SUBSCRIPTION_STATE_ACTIVE", ""]);
  assert.equal((await rowOf(uid)).handshake_time, null);
});

test("after a rotation the previous secret signs as well for a while, and no older one", async () => {
  const { uid, secret: first } = await platform.subscription(await newGroup());
  const before = await rowOf(uid);
  const startMs = platform.clock.nowMs();
  const second = await act(uid, "rotateSecret");
  assert.notEqual(second["secret"], first);
  const untilMs = Date.parse(String(second["oldSecretExpireTime"])) - startMs;
  assert.ok(untilMs >= 24 * HOUR_MS && untilMs < 25 * HOUR_MS);
  const between = await rowOf(uid);
  assert.equal(between.old_secret, before.secret);
  const third = await act(uid, "rotateSecret", { overlap: "90s" });
  const last = await rowOf(uid);
  assert.equal(last.old_secret, between.secret, "of two rotations within the overlap the oldest secret goes");
  assert.equal(Date.parse(String(third["oldSecretExpireTime"])) - Date.parse(third.updateTime), 90_000);
  const fourth = await act(uid, "rotateSecret", { overlap: "0s" });
  assert.equal(fourth["oldSecretExpireTime"], undefined);
  assert.deepEqual([(await rowOf(uid)).old_secret, (await rowOf(uid)).old_secret_expire_time], ["", null]);
  assert.equal((await act(uid, "rotateSecret", { overlap: "604800s" }))["oldSecretExpireTime"] === undefined, false);
  for (const overlap of ["-1s", "604801s", "604800.001s"]) {
    const answer = await platform.call("POST", `${PATH}/${uid}:rotateSecret`, { token: owner, body: { overlap } });
    assert.deepEqual([answer.status, blamed(answer)], [400, ["overlap"]], overlap);
  }
});

test("secrets, the previous one included, are sealed again when the secret key changes", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "moorage-subscriptions-"));
  const { store, close } = await openTestStore(folder);
  t.after(async () => {
    await close();
    await dropDatabase(folder);
    await rm(folder, { recursive: true, force: true });
  });
  const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const row = { ...(await rowOf((await platform.subscription(await newGroup())).uid)), secret: "", old_secret: "" };
  const place = subscriptionPlace(row.uid);
  const before = createSecrets([oldKey]);
  await store.transact(async (tx) => {
    const both = { ...row, secret: before.seal("new", place), old_secret: before.seal("old", place) };
    const uid = `${row.parent}/${"1".repeat(16)}`;
    await tx
      .insertInto("subscriptions")
      .values([both, { ...row, uid, secret: before.seal("only", subscriptionPlace(uid)) }])
      .execute();
    await resealSubscriptions(tx, createSecrets([newKey, oldKey]));
  });
  const now = createSecrets([newKey]);
  const found = await store.reader.selectFrom("subscriptions").selectAll().execute();
  const opened = found.map(({ uid, secret, old_secret: old }) =>
    [secret, old].map((text) => (text === "" ? "" : now.open(text, subscriptionPlace(uid)))),
  );
  assert.deepEqual(opened.toSorted(), [
    ["new", "old"],
    ["only", ""],
  ]);
});

test("a test event goes to its subscription alone, whatever the filters, also while it is paused", async () => {
  const group = await newGroup();
  const { uid } = await platform.subscription(group, {
    typePrefixes: ["dev.moorage.registry."],
    subjectPrefixes: [`${group}/${"0".repeat(16)}`],
  });
  await platform.subscription(group);
  await act(uid, "pause");
  const { eventId } = await act(uid, "test");
  const [delivery, ...others] = await deliveriesOf(String(eventId));
  assert.deepEqual(
    [delivery?.parent, delivery?.event_type, delivery?.event_subject, others.length],
    [uid, "events.test.v1", uid, 0],
  );
  const listed = await platform.ok("GET", `/events/v2/deliveries?uidp.childrenOf=${uid}&eventId=${String(eventId)}`);
  const found = (await rows(listed, "deliveries")).map((each) => [each["eventType"], each["state"]]);
  assert.deepEqual(found, [["dev.moorage.events.test.v1", "DELIVERY_STATE_PENDING"]]);
  const event = await platform.reader
    .selectFrom("events")
    .selectAll()
    .where("id", "=", String(eventId))
    .executeTakeFirstOrThrow();
  assert.equal((JSON.parse(event.body) as { subscription: string }).subscription, uid);
  assert.equal((JSON.parse(event.actor) as { subject: string }).subject, platform.owner);
  assert.match((await platform.grpc.call(testSubscription, { uid }, owner)).message?.eventId ?? "", /^[0-9a-f-]{36}$/);
});

test("a deleted subscription and its deliveries are gone immediately, and its group can be deleted", async () => {
  const group = await newGroup();
  const { uid } = await platform.subscription(group);
  const viewer = await platform.token(await platform.identity(platform.organization, "viewer"));
  const [delivery = ""] = await platform.transact((tx) => addDeliveries(tx, uid, [{ state: STATE.dead }]));
  const lease = { subscription: uid, holder: "somebody", until_time: Date.now() + HOUR_MS };
  await platform.transact((tx) => tx.insertInto("subscription_leases").values(lease).execute());
  const held = await platform.call("DELETE", `/iam/v2/groups/${group}`, { token: owner });
  assert.deepEqual([held.status, reason(held)], [400, "FAILED_PRECONDITION"]);
  assert.equal(
    (await platform.call("POST", `/events/v2/deliveries/${delivery}:redeliver`, { token: viewer })).status,
    403,
  );
  assert.equal((await platform.call("DELETE", `${PATH}/${uid}`, { token: owner })).text, "");
  assert.deepEqual(
    await platform.reader.selectFrom("subscription_leases").selectAll().where("subscription", "=", uid).execute(),
    [],
  );
  for (const [verb, path, token] of [
    ["GET", `${PATH}/${uid}`, owner],
    ["DELETE", `${PATH}/${uid}`, owner],
    ["POST", `${PATH}/${uid}:pause`, owner],
    ["GET", `/events/v2/deliveries/${delivery}`, owner],
    ["POST", `/events/v2/deliveries/${delivery}:redeliver`, owner],
    ["POST", `/events/v2/deliveries/${delivery}:redeliver`, viewer],
  ] as const)
    assert.equal((await platform.call(verb, path, { token })).status, 404, `${verb} ${path}`);
  for (const query of [`uidp.childrenOf=${uid}`, `uidp.descendantsOf=${group}`, `uidp.ids=${delivery}`]) {
    const page = await platform.ok("GET", `/events/v2/deliveries?${query}`);
    assert.deepEqual([page["deliveries"], page.totalCount], [[], "0"], query);
  }
  assert.equal((await platform.call("DELETE", `/iam/v2/groups/${group}`, { token: owner })).status, 200);
});

test("a group has at most a hundred subscriptions", async () => {
  const group = await newGroup();
  const { uid } = await platform.subscription(group);
  const { ...row } = await rowOf(uid);
  const more = Array.from({ length: 98 }, (_, at) => ({
    ...row,
    uid: `${group}/${at.toString(16).padStart(16, "0")}`,
  }));
  await platform.transact((tx) => tx.insertInto("subscriptions").values(more).execute());
  await platform.subscription(group);
  const answer = await create(group, { sink: "http://127.0.0.1:9/" });
  assert.deepEqual([answer.status, reason(answer)], [400, "FAILED_PRECONDITION"]);
  const violations = answer.body.details.flatMap((detail) => detail.violations ?? []);
  assert.deepEqual(
    violations.map(({ type, subject }) => [type, subject]),
    [["TOO_MANY_SUBSCRIPTIONS", group]],
  );
  await platform.ok("DELETE", `${PATH}/${uid}`);
  await platform.subscription(group);
});

test("subscriptions are listed in pages, oldest first or in the requested order", async () => {
  const group = await newGroup();
  const made: string[] = [];
  for (const at of [3, 1, 2]) {
    platform.clock.offsetMs += 1;
    made.push((await platform.subscription(group, { sink: `http://127.0.0.1:9/${at}` })).uid);
  }
  await act(made[1] ?? "", "pause");
  const listed = async (query: string): Promise<number[]> => {
    const page = await platform.ok("GET", `${PATH}?uidp.childrenOf=${group}&${query}`);
    return (await rows(page, "subscriptions")).map((each) => made.indexOf(each.uid));
  };
  assert.deepEqual(await listed(""), [0, 1, 2]);
  assert.deepEqual(await listed("orderBy=sink"), [1, 2, 0]);
  assert.deepEqual(await listed("orderBy=state desc, createTime desc".replaceAll(" ", "%20")), [1, 2, 0]);
  const { nextPageToken } = await platform.ok("GET", `${PATH}?uidp.childrenOf=${group}&pageSize=2`);
  assert.deepEqual(await listed(`pageToken=${nextPageToken}`), [2]);
});
