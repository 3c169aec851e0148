import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { openTestStore } from "../../../server/test/support/database.ts";
import { startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import {
  type Delivery,
  eventsOf,
  listening,
  ONLY_TESTS,
  QUICK,
  startReceiver,
} from "../../../server/test/support/receiver.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

const isDelivered = ({ state }: Delivery): boolean => state === "DELIVERY_STATE_DELIVERED";
test("the handshake", async (t) => {
  const moorage = await startInstallation(t, QUICK);
  const { subscribe, subscription, test: send, deliveries, resume } = eventsOf(moorage);

  await t.test("is sent once before the first event, with the server's host name", async (t) => {
    const receiver = await startReceiver(t);
    receiver.handshake = (_, res) =>
      void res.writeHead(200, { "webhook-allowed-origin": "*", "webhook-allowed-rate": "6000" }).end();
    const { uid } = await subscribe(`${receiver.url}/in?a=b`, ONLY_TESTS);
    for (let n = 0; n < 3; n += 1) await send(uid);
    await eventually(async () => (await deliveries(uid)).filter(isDelivered).length === 3);
    assert.deepEqual(
      receiver.got.map(({ method, path }) => `${method} ${path}`),
      ["OPTIONS /in?a=b", ...Array.from({ length: 3 }, () => "POST /in?a=b")],
    );
    assert.equal(receiver.got[0]?.headers["webhook-request-origin"], "127.0.0.1");
    assert.match(String(receiver.got[0]?.headers["webhook-request-rate"]), /^[1-9]\d*$/);
    assert.equal((await subscription(uid)).allowedRate, 6000);
  });

  await t.test("is sent again a day later", async (t) => {
    const receiver = await startReceiver(t);
    const { uid } = await subscribe(receiver.url, ONLY_TESTS);
    await send(uid);
    await eventually(async () => (await deliveries(uid)).some(isDelivered));
    const { db, close } = await openTestStore(moorage.dataDir);
    await db
      .updateTable("subscriptions")
      .set({ handshake_time: Date.now() - 86_400_001 })
      .where("uid", "=", uid)
      .execute();
    await close();
    await send(uid);
    await eventually(async () => (await deliveries(uid)).filter(isDelivered).length === 2);
    assert.deepEqual(
      receiver.got.map(({ method }) => method),
      ["OPTIONS", "POST", "OPTIONS", "POST"],
    );
  });

  await t.test(
    "a sink that allows other origins alone gets no events, and its subscription is disabled until it allows this one",
    async (t) => {
      const receiver = await startReceiver(t);
      receiver.handshake = (_, res) =>
        void res.writeHead(200, { "webhook-allowed-origin": "other.example, more.example" }).end();
      const { uid } = await subscribe(receiver.url, ONLY_TESTS);
      await send(uid);
      const disabled = await eventually(async () => {
        const now = await subscription(uid);
        return now.state === "SUBSCRIPTION_STATE_DISABLED" && now;
      });
      assert.equal(
        disabled.stateReason,
        "the sink allows events from other.example, more.example alone, not from 127.0.0.1",
      );
      assert.deepEqual(
        (await deliveries(uid)).map(({ state, tries }) => [state, tries]),
        [["DELIVERY_STATE_PENDING", 0]],
      );
      assert.equal(receiver.events().length, 0);
      receiver.handshake = (_, res) => void res.writeHead(200, { "webhook-allowed-origin": "127.0.0.1" }).end();
      await resume(uid);
      await eventually(async () => (await deliveries(uid)).some(isDelivered));
      assert.equal((await subscription(uid)).allowedRate, 0);
    },
  );

  await t.test("a missing answer is a failed attempt, not a rejection", async (t) => {
    let isFirst = true;
    const receiver = await startReceiver(t);
    receiver.handshake = (req, res) => {
      if (isFirst) req.socket.destroy();
      else res.writeHead(200).end();
      isFirst = false;
    };
    const { uid } = await subscribe(receiver.url, ONLY_TESTS);
    await send(uid);
    const [delivery] = await eventually(async () => {
      const now = await deliveries(uid);
      return now.some(isDelivered) && now;
    });
    assert.deepEqual(
      delivery?.attempts.map(({ error }) => error),
      ["handshake: the connection broke off before there was an answer", ""],
    );
  });

  await t.test("the rate that the sink allows is respected", async (t) => {
    const receiver = await startReceiver(t);
    receiver.handshake = (_, res) =>
      void res.writeHead(200, { "webhook-allowed-origin": "*", "webhook-allowed-rate": "1" }).end();
    const { uid } = await subscribe(receiver.url, ONLY_TESTS);
    const other = await subscribe((await startReceiver(t)).url, ONLY_TESTS);
    // All events wait when the handshake is first sent.
    await moorage.api("POST", `/events/v2/subscriptions/${uid}:pause`, {});
    for (let n = 0; n < 3; n += 1) await send(uid);
    await eventually(async () => (await deliveries(uid)).length === 3);
    await resume(uid);
    await eventually(async () => (await deliveries(uid)).some(isDelivered));
    // Meanwhile other subscriptions are sent for, run after run.
    for (let n = 1; n <= 5; n += 1) {
      await send(other.uid);
      await eventually(async () => (await deliveries(other.uid)).filter(isDelivered).length === n);
    }
    assert.equal(receiver.events().length, 1);
    assert.deepEqual(
      (await deliveries(uid)).map(({ tries }) => tries).toSorted(),
      [0, 0, 1],
      "waiting deliveries were not attempted",
    );
  });
});

test("addresses that are not public are not sent to, under any name", async (t) => {
  const dataDir = temporaryFolder(t);
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on("error", () => {}).destroy();
  });
  const { port } = new URL(await listening(t, server));
  const before = await startInstallation(t, QUICK, dataDir);
  const sinks = [
    "https://127.0.0.1",
    "https://[::1]",
    "https://localhost",
    "https://0x7f000001",
    "http://127.0.0.1",
  ].map((origin) => `${origin}:${port}/`);
  const subscriptions: { uid: string; sink: string }[] = [];
  for (const sink of sinks) subscriptions.push({ sink, uid: (await eventsOf(before).subscribe(sink, ONLY_TESTS)).uid });
  await before.close();
  const moorage = await startInstallation(t, { ...QUICK, MOORAGE_ALLOW_PRIVATE_NETWORK: "0" }, dataDir);
  const { test: send, deliveries } = eventsOf(moorage);
  connections = 0;
  for (const { uid, sink } of subscriptions) {
    await send(uid);
    const error = sink.startsWith("http:") ? "not an https URL" : "the address is not a public one";
    const { lastError, lastStatus } = await eventually(async () =>
      (await deliveries(uid)).find(({ attempts }) => attempts.length > 0),
    );
    assert.deepEqual([lastStatus, lastError.replace("handshake: ", "")], [0, error], sink);
  }
  assert.equal(connections, 0);
});
