import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { openTestStore } from "../../../server/test/support/database.ts";
import { startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { type Delivery, eventsOf, ONLY_TESTS, QUICK, startReceiver } from "../../../server/test/support/receiver.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

const isDelivered = ({ state }: Delivery): boolean => state === "DELIVERY_STATE_DELIVERED";

let nextSeq = 1_000_000_000;

/** Adds this many waiting events to the subscription. */
async function seed(dataDir: string, subscription: string, count: number): Promise<void> {
  const { store, close } = await openTestStore(dataDir);
  const nowMs = Date.now();
  const parent = subscription.slice(0, subscription.lastIndexOf("/"));
  await store.transact(async (tx) => {
    for (let at = 0; at < count; at += 500) {
      const some = Array.from({ length: Math.min(500, count - at) }, (_, n) => ({
        seq: nextSeq + n,
        id: randomUUID(),
      }));
      nextSeq += some.length;
      await tx
        .insertInto("events")
        .values(
          some.map(({ seq, id }) => ({
            seq,
            id,
            type: "events.test.v1",
            subject: subscription,
            parent,
            organization: parent,
            target: subscription,
            number: seq,
            time: nowMs,
            actor: `{"subject":"","act":{}}`,
            body: "{}",
          })),
        )
        .execute();
      await tx
        .insertInto("deliveries")
        .values(
          some.map(({ seq, id }) => ({
            uid: `${subscription}/${seq.toString(16).padStart(16, "0")}`,
            parent: subscription,
            seq,
            event_id: id,
            event_type: "dev.moorage.events.test.v1",
            event_subject: subscription,
            state: 1,
            tries: 0,
            step: 0,
            last_status: 0,
            last_error: "",
            last_latency_ms: 0,
            next_time: nowMs,
            attempts: "[]",
            create_time: nowMs,
            update_time: nowMs,
          })),
        )
        .execute();
    }
  });
  await close();
}

test("sinks that never answer, with 10,000 waiting events each, do not delay other sinks", async (t) => {
  const moorage = await startInstallation(t, { ...QUICK, MOORAGE_EVENTS_TIMEOUT: "2s" });
  const { subscribe, test: send, deliveries } = eventsOf(moorage);
  const dead = await Promise.all([startReceiver(t), startReceiver(t)]);
  const healthy = await startReceiver(t);
  for (const receiver of dead) {
    receiver.answer = () => {};
    await seed(moorage.dataDir, (await subscribe(receiver.url, ONLY_TESTS)).uid, 10_000);
  }
  await eventually(() => dead.every((receiver) => receiver.events().length > 0));
  const { uid } = await subscribe(healthy.url, ONLY_TESTS);
  const ids = new Set<string>();
  for (let n = 0; n < 50; n += 1) ids.add(await send(uid));
  await eventually(async () => (await deliveries(uid)).filter(isDelivered).length === ids.size);
  assert.deepEqual(new Set(healthy.events().map(({ headers }) => headers["ce-id"])), ids);
  const { store, close } = await openTestStore(moorage.dataDir);
  const waiting = await store.reader
    .selectFrom("deliveries")
    .select(({ fn }) => fn.countAll<number>().as("n"))
    .where("state", "=", 1)
    .executeTakeFirstOrThrow();
  await close();
  assert.ok(Number(waiting.n) > 19_000, "nearly all of theirs still wait");
  for (const receiver of dead) assert.equal(receiver.open.most, 1, "a sink that does not answer has one try at a time");
});

test("a sink that answers gets more and more concurrent attempts, never more than the setting", async (t) => {
  const moorage = await startInstallation(t, { ...QUICK, MOORAGE_EVENTS_CONCURRENCY: "4" });
  const { subscribe, deliveries } = eventsOf(moorage);
  const receiver = await startReceiver(t);
  const held: ServerResponse[] = [];
  let answered = 0;
  receiver.answer = (_, res) => {
    held.push(res);
    // After the first few requests it answers only once it has as many concurrent requests as the setting allows.
    if (answered < 8 || held.length === 4)
      for (const one of held.splice(0))
        one.writeHead(200).end(() => {
          answered += 1;
        });
  };
  const { uid } = await subscribe(receiver.url, ONLY_TESTS);
  await seed(moorage.dataDir, uid, 60);
  await eventually(async () => (await deliveries(uid)).filter(isDelivered).length === 60);
  assert.equal(receiver.open.most, 4);
  assert.equal(receiver.events().length, 60);
});

test("a server that shuts down waits for the attempts under way, and releases the other deliveries", async (t) => {
  const dataDir = temporaryFolder(t);
  const env = { ...QUICK, MOORAGE_EVENTS_CONCURRENCY: "1", MOORAGE_EVENTS_TIMEOUT: "20s" };
  const moorage = await startInstallation(t, env, dataDir);
  const { subscribe, test: send, deliveries } = eventsOf(moorage);
  const receiver = await startReceiver(t);
  const asked = Promise.withResolvers<ServerResponse>();
  receiver.answer = (_, res) => asked.resolve(res);
  const { uid } = await subscribe(receiver.url, ONLY_TESTS);
  for (let n = 0; n < 3; n += 1) await send(uid);
  const res = await asked.promise;
  await eventually(async () => (await deliveries(uid)).length === 3);
  // One more attempt may begin before the server notices.
  receiver.answer = 200;
  const closing = moorage.close();
  res.writeHead(200).end();
  await closing;
  const rows = async () => {
    const { store, close } = await openTestStore(dataDir);
    const found = await store.reader
      .selectFrom("deliveries")
      .select(["event_id", "state", "tries", "attempts", "next_time"])
      .where("parent", "=", uid)
      .orderBy("seq")
      .execute();
    const leases = await store.reader.selectFrom("subscription_leases").select("holder").execute();
    await close();
    return { found, leases };
  };
  const { found, leases } = await rows();
  const sent = receiver.events().length;
  assert.deepEqual(
    found.map(({ state, tries }) => [state, tries]),
    found.map((_, at) => (at < sent ? [4, 1] : [1, 0])),
  );
  assert.deepEqual(leases, []);
  assert.deepEqual(
    moorage.lines.map((line) => JSON.parse(line) as { level: number }).filter(({ level }) => level >= 40),
    [],
  );

  const stuck = Promise.withResolvers<string>();
  receiver.answer = (_, __, { headers }) => stuck.resolve(String(headers["ce-id"]));
  const again = await startInstallation(t, { ...env, MOORAGE_DRAIN_TIMEOUT: "100ms" }, dataDir);
  await eventsOf(again).test(uid);
  const id = await stuck.promise;
  await again.close();
  const interrupted = (await rows()).found.find((row) => row.event_id === id);
  assert.equal(interrupted?.tries, 1);
  const [attempt] = JSON.parse(interrupted?.attempts ?? "[]") as [number, number, number, string][];
  assert.deepEqual([attempt?.[2], attempt?.[3]], [0, "interrupted: the server shuts down"]);
  assert.ok((interrupted?.next_time ?? Infinity) <= Date.now(), "it is due immediately");
});

test("a process that does not deliver still numbers events", async (t) => {
  const moorage = await startInstallation(t, { ...QUICK, MOORAGE_EVENTS_CONCURRENCY: "0" });
  const { subscribe, deliveries, organization } = eventsOf(moorage);
  const receiver = await startReceiver(t);
  const { uid } = await subscribe(receiver.url);
  const [delivery] = await eventually(async () => {
    const now = await deliveries(uid);
    return now.length > 0 && now;
  });
  const { events } = await moorage.api<{ events: { id: string }[] }>("GET", `/events/v2/events?group=${organization}`);
  assert.ok(events.some(({ id }) => id === delivery?.eventId));
  assert.equal(receiver.got.length, 0);
});

test("the metrics and the log show a sink that fails, and that it works again", async (t) => {
  const moorage = await startInstallation(t, { ...QUICK, MOORAGE_EVENTS_RETRY: "1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s" });
  const { subscribe, test: send, deliveries } = eventsOf(moorage);
  const receiver = await startReceiver(t);
  receiver.answer = 500;
  const { uid } = await subscribe(receiver.url, ONLY_TESTS);
  await send(uid);
  await send(uid);
  await eventually(async () => {
    const now = await deliveries(uid);
    return now.length === 2 && now.every(({ attempts }) => attempts.length > 0);
  });
  const metrics = async (): Promise<string> => {
    const { text } = await moorage.ask("GET", "/metrics");
    return text
      .split("\n")
      .filter((line) => line.startsWith("moorage_event_"))
      .join("\n");
  };
  const failing = await metrics();
  assert.match(failing, /^moorage_event_tries_total\{subscription="[0-9a-f/]+",outcome="refused"\} [2-9]/m);
  assert.match(failing, new RegExp(`^moorage_event_failures_total\\{subscription="${uid}"\\} [2-9]`, "m"));
  assert.match(failing, new RegExp(`^moorage_event_backlog\\{subscription="${uid}"\\} 2$`, "m"));
  assert.match(failing, new RegExp(`^moorage_event_backlog_age_seconds\\{subscription="${uid}"\\} \\d`, "m"));
  receiver.answer = 200;
  await eventually(async () => (await deliveries(uid)).every(isDelivered));
  const recovered = await metrics();
  assert.match(recovered, /^moorage_event_tries_total\{subscription="[0-9a-f/]+",outcome="delivered"\} 2$/m);
  assert.match(recovered, /^moorage_event_try_duration_seconds_count\{outcome="delivered"\} 2$/m);
  assert.doesNotMatch(recovered, /^moorage_event_backlog\{/m);
  const messages = moorage.lines
    .map((line) => JSON.parse(line) as { msg: string; subscription?: string })
    .filter(({ subscription }) => subscription === uid)
    .map(({ msg }) => msg);
  assert.deepEqual(messages, ["events are not delivered", "events are delivered again"]);
});
