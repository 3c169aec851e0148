import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { eventsOf, listening, QUICK, startReceiver } from "../../../server/test/support/receiver.ts";
import { startPlatform } from "../../../server/test/support/platform.ts";

interface Outcome {
  delivered: boolean;
  status: number;
  error: string;
  latency: string;
}

test("a sink is tried before there is a subscription, and nothing is stored", async (t) => {
  const moorage = await startInstallation(t, { ...QUICK, MOORAGE_EVENTS_TIMEOUT: "1s" });
  const { organization } = eventsOf(moorage);
  const attempt = async (sink: string, format?: string): Promise<Outcome> =>
    await moorage.api("POST", `/events/v2/sinkTests/${organization}`, {
      sink,
      ...(format !== undefined && { format: `SUBSCRIPTION_FORMAT_${format}` }),
    });

  await t.test("as a CloudEvent with the handshake and a token of this issuer, and no signature", async (t) => {
    const receiver = await startReceiver(t);
    const { latency, ...outcome } = await attempt(`${receiver.url}/in?a=b`);
    assert.deepEqual(outcome, { delivered: true, status: 204, error: "" });
    assert.match(latency, /^\d+(?:\.\d+)?s$/);
    assert.deepEqual(
      receiver.got.map(({ method, path }) => `${method} ${path}`),
      ["OPTIONS /in?a=b", "POST /in?a=b"],
    );
    const [got] = receiver.events();
    assert.equal(got?.headers["ce-type"], "dev.moorage.events.test.v1");
    assert.equal(got?.headers["ce-subject"], organization);
    assert.equal(got?.headers["ce-bodytype"], "moorage.events.v2.SubscriptionTest");
    assert.equal(got?.headers["webhook-signature"], undefined);
    const token = got?.headers.authorization?.replace("Bearer ", "") ?? "";
    const keys = createRemoteJWKSet(new URL("/.well-known/jwks.json", moorage.url));
    const { payload } = await jwtVerify(token, keys, { issuer: moorage.url, audience: "customer" });
    assert.equal(payload.sub, `webhook:${organization}`);
    const { subscriptions } = await moorage.api<{ subscriptions: unknown[] }>("GET", "/events/v2/subscriptions");
    assert.deepEqual(subscriptions, []);
  });

  await t.test("as a message for a chat, with the body that the sample shows", async (t) => {
    const receiver = await startReceiver(t);
    receiver.answer = (_, res) => void res.writeHead(200).end("ok");
    const { delivered, status } = await attempt(receiver.url, "SLACK");
    assert.deepEqual([delivered, status], [true, 200]);
    assert.deepEqual(
      receiver.got.map(({ method, headers }) => [method, headers.authorization]),
      [["POST", undefined]],
    );
    assert.equal((JSON.parse(receiver.got[0]?.body ?? "") as { text: string }).text, "A test of the webhook");
  });

  await t.test(
    "what came back is said: a status, no answer in time, a handshake that refuses, nothing there",
    async (t) => {
      const receiver = await startReceiver(t);
      receiver.answer = (_, res) => void res.writeHead(302, { location: "http://127.0.0.1:1/" }).end("secret");
      const moved = await attempt(receiver.url);
      assert.deepEqual([moved.delivered, moved.status, moved.error], [false, 302, ""]);
      assert.ok(!JSON.stringify(moved).includes("secret"));
      receiver.answer = () => {};
      const late = await attempt(receiver.url, "TEAMS");
      assert.deepEqual([late.delivered, late.status, late.error], [false, 0, "no answer within 1000 ms"]);
      receiver.handshake = (_, res) => void res.writeHead(200, { "webhook-allowed-origin": "other.example" }).end();
      const count = receiver.events().length;
      const refused = await attempt(receiver.url);
      assert.deepEqual(
        [refused.delivered, refused.status, refused.error],
        [false, 0, "the sink allows events from other.example alone, not from 127.0.0.1"],
      );
      assert.equal(receiver.events().length, count);
      await receiver.close();
      const gone = await attempt(receiver.url);
      assert.deepEqual([gone.delivered, gone.status, gone.error], [false, 0, "handshake: the connection was refused"]);
    },
  );

  await t.test("an answer without an end is cut", async (t) => {
    const endless = createServer((socket) => {
      socket.on("error", () => {});
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`;
      const more = (): void => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on("drain", more);
      more();
    });
    const { delivered, status } = await attempt(await listening(t, endless), "SLACK");
    assert.deepEqual([delivered, status], [true, 200]);
  });

  await t.test("two of an organization at most are under way", async (t) => {
    const receiver = await startReceiver(t);
    const held: (() => void)[] = [];
    receiver.answer = (_, res) => void held.push(() => res.writeHead(204).end());
    const both = [attempt(receiver.url, "SLACK"), attempt(receiver.url, "SLACK")];
    await eventually(() => held.length === 2);
    await assert.rejects(attempt(receiver.url), /429 .*2 tests of this organization are under way/);
    for (const answer of held) answer();
    assert.deepEqual(
      (await Promise.all(both)).map(({ delivered }) => delivered),
      [true, true],
    );
    receiver.answer = 204;
    assert.equal((await attempt(receiver.url)).delivered, true);
  });
});

test("a sink is tried only where a subscription could be made, and only by who may make one", async (t) => {
  const platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "0" });
  t.after(() => platform.close());
  const path = `/events/v2/sinkTests/${platform.organization}`;
  for (const [sink, description] of [
    ["http://hooks.example.com/", "must be an https URL"],
    ["https://127.0.0.1/", "must not lead to an address that is not a public one"],
    ["https://user:word@hooks.example.com/", "must not hold a user name or password"],
    ["ftp://hooks.example.com/", "must be an http or https URL"],
  ] as const) {
    const { status, body } = await platform.call("POST", path, { token: await platform.token(), body: { sink } });
    assert.equal(status, 400, sink);
    assert.match(JSON.stringify(body), new RegExp(description));
  }
  const viewer = await platform.token(await platform.identity(platform.organization, "viewer"));
  const refused = await platform.call("POST", path, { token: viewer, body: { sink: "https://hooks.example.com/" } });
  assert.equal(refused.status, 403);
});
