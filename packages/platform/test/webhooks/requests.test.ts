import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { createServer } from "node:net";
import { test, type TestContext } from "node:test";
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { selfSigned } from "../../../server/test/support/certificate.ts";
import { type Installation, startInstallation } from "../../../server/test/support/installation.ts";
import {
  type Delivery,
  eventsOf,
  type Got,
  listening,
  ONLY_TESTS,
  QUICK,
  type Receiver,
  startReceiver,
} from "../../../server/test/support/receiver.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

/** A receiver with a subscription. */
async function startPair(t: TestContext, moorage: Installation, prepare: (receiver: Receiver) => void = () => {}) {
  const receiver = await startReceiver(t);
  prepare(receiver);
  const events = eventsOf(moorage);
  const { uid, secret } = await events.subscribe(`${receiver.url}/in`, ONLY_TESTS);
  return {
    receiver,
    uid,
    secret,
    ...events,
    /** Sends a test event, and waits until its delivery satisfies `isDone`. */
    async sent(isDone: (delivery: Delivery) => boolean) {
      const eventId = await events.test(uid);
      return await eventually(async () =>
        (await events.deliveries(uid)).find((one) => one.eventId === eventId && isDone(one)),
      );
    },
  };
}

const isDelivered = ({ state }: Delivery): boolean => state === "DELIVERY_STATE_DELIVERED";
const isTried = ({ attempts }: Delivery): boolean => attempts.length > 0;
const tokenOf = ({ headers }: Got): string => headers.authorization?.replace("Bearer ", "") ?? "";

test("an event is a CloudEvent with both proofs of its origin", async (t) => {
  const receiver = await startReceiver(t);
  const moorage = await startInstallation(t, QUICK);
  const { organization, subscribe } = eventsOf(moorage);
  const { secret } = await subscribe(`${receiver.url}/in?a=b`);
  const { uid: group } = await moorage.api("POST", `/iam/v2/groups/${organization}`, { name: "team" });
  const got = await eventually(() => receiver.events().find(({ headers }) => headers["ce-subject"] === group));
  assert.equal(got.path, "/in?a=b");
  const { headers, body } = got;
  const seen = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("ce-")));
  assert.match(seen["ce-id"] as string, /^[0-9a-f-]{36}$/);
  assert.match(seen["ce-time"] as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(
    { ...seen, "ce-id": "", "ce-time": "" },
    {
      "ce-specversion": "1.0",
      "ce-id": "",
      "ce-source": moorage.url,
      "ce-type": "dev.moorage.api.iam.group.created.v1",
      "ce-bodytype": "moorage.iam.v2.Group",
      "ce-subject": group,
      "ce-time": "",
      "ce-group": group,
      "ce-audience": "customer",
      "ce-actor": moorage.bootstrap.identity.uid,
      "ce-sequence": "1",
    },
  );
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers["content-length"], String(Buffer.byteLength(body)));
  const {
    actor,
    body: emitted,
    ...rest
  } = JSON.parse(body) as { actor: { subject: string; act: object }; body: { uid: string; name: string } };
  assert.deepEqual(
    [actor.subject, emitted.uid, emitted.name, rest],
    [moorage.bootstrap.identity.uid, group, "team", {}],
  );
  assert.equal(headers["webhook-id"], headers["ce-id"]);
  assert.deepEqual(headers["webhook-signature"], signatureBy(secret, got));
  const keys = createRemoteJWKSet(new URL("/.well-known/jwks.json", moorage.url));
  const { payload } = await jwtVerify(tokenOf(got), keys, {
    issuer: moorage.url,
    audience: "customer",
    algorithms: ["ES256"],
  });
  assert.equal(decodeProtectedHeader(tokenOf(got)).typ, "JWT");
  assert.equal(payload.sub, `webhook:${organization}`);
  assert.deepEqual(payload["webhook"], { digest: `sha256:${createHash("sha256").update(body).digest("hex")}` });
  assert.ok((payload.exp ?? 0) - (payload.iat ?? 0) <= 300 && typeof payload.jti === "string");

  for (const target of ["/iam/v2/groups", "/v2/", `/events/v2/events?group=${organization}`]) {
    assert.equal((await moorage.ask("GET", target, { token: tokenOf(got) })).status, 401, target);
  }
  assert.equal(
    (await moorage.ask("GET", "/token?scope=repository:acme/app:pull", { basic: `user:${tokenOf(got)}` })).status,
    401,
  );

  await moorage.api("PATCH", `/iam/v2/groups/${group}`, { name: "crew" });
  const again = await eventually(() =>
    receiver.events().find((one) => one.headers["ce-subject"] === group && one.headers["ce-sequence"] === "2"),
  );
  assert.equal(again.headers["ce-type"], "dev.moorage.api.iam.group.updated.v1");
});

test("the type of the body has the package by which the installation's clients were compiled", async (t) => {
  const receiver = await startReceiver(t);
  const moorage = await startInstallation(t, { ...QUICK, MOORAGE_GRPC_PACKAGE_ALIASES: "acme.platform,other" });
  const { organization, subscribe } = eventsOf(moorage);
  await subscribe(`${receiver.url}/in`);
  const { uid: group } = await moorage.api("POST", `/iam/v2/groups/${organization}`, { name: "team" });
  await moorage.api("DELETE", `/iam/v2/groups/${group}`);
  const types = await eventually(() => {
    const found = receiver.events().filter(({ headers }) => headers["ce-subject"] === group);
    return found.length < 2 ? undefined : found.map(({ headers }) => headers["ce-bodytype"]);
  });
  assert.deepEqual(types.toSorted(), ["acme.platform.events.v2.ResourceDeleted", "acme.platform.iam.v2.Group"]);
});

function signatureBy(secret: string, { headers, body }: Got): string {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  return `v1,${createHmac("sha256", key)
    .update(`${headers["webhook-id"] as string}.${headers["webhook-timestamp"] as string}.${body}`)
    .digest("base64")}`;
}

test("the answers of sinks", async (t) => {
  const moorage = await startInstallation(t, QUICK);
  const impatient = await startInstallation(t, { ...QUICK, MOORAGE_EVENTS_TIMEOUT: "500ms" });

  await t.test("a failed attempt is repeated with the same id and body and new proofs", async (t) => {
    let failures = 3;
    const { receiver, sent, uid, subscription } = await startPair(t, moorage, (receiver) => {
      receiver.answer = (_, res) => void res.writeHead(failures-- > 0 ? 503 : 200).end("fine");
    });
    const { attempts, tries } = await sent(isDelivered);
    assert.deepEqual(
      attempts.map(({ status, error }) => [status, error]),
      [...Array.from({ length: 3 }, () => [503, "the sink answered 503"]), [200, ""]],
    );
    assert.equal(tries, 4);
    const got = receiver.events();
    assert.equal(got.length, 4);
    for (const what of [
      ({ body }: Got) => body,
      ({ headers }: Got) => headers["ce-id"],
      ({ headers }: Got) => headers["ce-sequence"],
    ]) {
      assert.equal(new Set(got.map(what)).size, 1);
    }
    assert.equal(new Set(got.map((one) => decodeJwt(tokenOf(one)).jti)).size, 4);
    assert.equal((await subscription(uid)).state, "SUBSCRIPTION_STATE_ACTIVE");
  });

  await t.test("after the last delay the delivery is a dead letter", async (t) => {
    const { receiver, sent } = await startPair(t, moorage, (receiver) => {
      receiver.answer = 500;
    });
    const { attempts } = await sent(({ state }) => state === "DELIVERY_STATE_DEAD");
    assert.equal(attempts.length, QUICK.MOORAGE_EVENTS_RETRY.split(",").length + 1);
    assert.equal(receiver.events().length, attempts.length);
  });

  await t.test("Retry-After is respected", async (t) => {
    const { receiver, sent } = await startPair(t, moorage, (receiver) => {
      receiver.answer = (_, res) => void res.writeHead(429, { "retry-after": "3600" }).end();
    });
    const {
      nextTryTime,
      attempts: [attempt],
      state,
    } = await sent(isTried);
    assert.equal(state, "DELIVERY_STATE_RETRYING");
    assert.ok(Date.parse(nextTryTime ?? "") - Date.parse(attempt?.startTime ?? "") >= 3_600_000);
    assert.equal(receiver.events().length, 1);
  });

  await t.test("410 disables the subscription, and resuming it sends everything that waits", async (t) => {
    const {
      receiver,
      uid,
      sent,
      test: send,
      subscription,
      resume,
      deliveries,
    } = await startPair(t, moorage, (receiver) => {
      receiver.answer = 410;
    });
    await sent(isTried);
    const { state, stateReason } = await eventually(async () => {
      const now = await subscription(uid);
      return now.state !== "SUBSCRIPTION_STATE_ACTIVE" && now;
    });
    assert.deepEqual(
      [state, stateReason],
      ["SUBSCRIPTION_STATE_DISABLED", "the sink answered 410: it wants no more events"],
    );
    const another = await send(uid);
    assert.equal((await deliveries(uid)).filter(isDelivered).length, 0);
    const before = receiver.events().length;
    receiver.answer = 200;
    await resume(uid);
    const all = await eventually(async () => {
      const now = await deliveries(uid);
      return now.length > 1 && now.every(isDelivered) && now;
    });
    assert.ok(all.some(({ eventId }) => eventId === another));
    assert.equal(receiver.events().length, before + all.length, "each was sent once more");
  });

  await t.test("redirects are failures and are not followed", async (t) => {
    const elsewhere = await startReceiver(t);
    const { sent } = await startPair(t, moorage, (receiver) => {
      receiver.answer = (_, res) => void res.writeHead(307, { location: elsewhere.url }).end();
    });
    const { lastStatus, lastError } = await sent(isTried);
    assert.deepEqual([lastStatus, lastError], [307, "the sink answered 307: redirects are not followed"]);
    assert.equal(elsewhere.got.length, 0);
  });

  await t.test("a missing answer is a failure after the timeout, and the attempt is repeated", async (t) => {
    let isFirst = true;
    const { receiver, sent } = await startPair(t, impatient, (receiver) => {
      receiver.answer = (_, res) => {
        if (!isFirst) res.writeHead(202).end();
        isFirst = false;
      };
    });
    const { attempts } = await sent(isDelivered);
    const outcomes = attempts.map(({ status, error }) => [status, error]);
    assert.deepEqual(outcomes.pop(), [202, ""]);
    // On a busy machine the answer to the second may be late as well.
    assert.ok(outcomes.length > 0);
    for (const outcome of outcomes) assert.deepEqual(outcome, [0, "no answer within 500 ms"]);
    assert.equal(receiver.open.most, 1, "never twice at the same time");
  });

  await t.test("only a little of an answer's body is read", async (t) => {
    const cut = Promise.withResolvers<number>();
    const { sent } = await startPair(t, moorage, (receiver) => {
      receiver.answer = (req, res) => {
        const { socket } = req;
        const pour = (): void => {
          while (res.write(Buffer.alloc(65_536)));
          res.once("drain", pour);
        };
        res.writeHead(200).once("close", () => cut.resolve(socket.bytesWritten));
        pour();
      };
    });
    assert.equal((await sent(isTried)).state, "DELIVERY_STATE_DELIVERED", "its status said so");
    // The operating system buffers more than the server reads.
    assert.ok((await cut.promise) < 16 << 20);
  });

  await t.test("the end of a slow body is not waited for", async (t) => {
    const cut = Promise.withResolvers<void>();
    const { sent } = await startPair(t, impatient, (receiver) => {
      receiver.answer = (_, res) => {
        res.writeHead(200).write("x");
        const timer = setInterval(() => res.write("x"), 20);
        res.once("close", () => {
          clearInterval(timer);
          cut.resolve();
        });
      };
    });
    await sent(isDelivered);
    await cut.promise;
  });

  await t.test("a request without an answer has an error text of this server", async (t) => {
    const odd = createServer((socket) => void socket.on("error", () => {}).end("SSH-2.0-OpenSSH\r\n"));
    const silent = createServer((socket) => void socket.on("error", () => {}).once("data", () => socket.destroy()));
    const secure = await startReceiver(t, { tls: selfSigned() });
    const huge = await startReceiver(t);
    huge.answer = (_, res) => void res.writeHead(200, { "x-huge": "x".repeat(20_000) }).end();
    const gone = await startReceiver(t);
    await gone.close();
    const cases: [sink: string, error: string][] = [
      [await listening(t, odd), "the answer is not HTTP"],
      [await listening(t, silent), "the connection broke off before there was an answer"],
      [secure.url, "the sink's certificate is not accepted: depth zero self signed cert"],
      [huge.url, "the head of the answer is too large"],
      [gone.url, "the connection was refused"],
      ["http://no-such-name.invalid/in", "the sink's name has no address"],
      [gone.url.replace("http", "https"), "the connection was refused"],
      [huge.url.replace("http", "https"), "the sink does not speak TLS"],
    ];
    for (const [sink, error] of cases) {
      const events = eventsOf(moorage);
      const { uid } = await events.subscribe(sink, ONLY_TESTS);
      await events.test(uid);
      const tried = await eventually(async () => (await events.deliveries(uid)).find(isTried));
      const text = (tried.attempts[0]?.error ?? "").replace("handshake: ", "");
      // Resolvers differ in the error for a name that does not exist.
      if (sink.includes(".invalid")) assert.match(text, /^the sink's name /);
      else assert.equal(text, error, sink);
      assert.equal(secure.got.length, 0);
      await moorage.api("DELETE", `/events/v2/subscriptions/${uid}`);
    }
  });

  await t.test("while a secret is being replaced, both secrets sign", async (t) => {
    const { receiver, uid, secret, sent, api } = { ...(await startPair(t, moorage)), api: moorage.api };
    const { secret: next } = await api<{ secret: string }>("POST", `/events/v2/subscriptions/${uid}:rotateSecret`, {});
    const { eventId } = await sent(isDelivered);
    const got = await eventually(() => receiver.events().find(({ headers }) => headers["ce-id"] === eventId));
    assert.equal(got.headers["webhook-signature"], `${signatureBy(next, got)} ${signatureBy(secret, got)}`);
  });
});
