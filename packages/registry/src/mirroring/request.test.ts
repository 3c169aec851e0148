import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import test, { type TestContext } from "node:test";
import { systemClock } from "@moorage/kernel/lib/clock";
import { openStreamClient, type StreamClient } from "@moorage/kernel/lib/stream-client";
import { createAuthorization } from "./authorization.ts";
import { openExchange } from "./request.ts";

const BOUNDS = { connections: 4, connectTimeoutMs: 30_000, headTimeoutMs: 30_000, silenceTimeoutMs: 30_000 };
/** For a source that sends nothing. */
const IMPATIENT = { ...BOUNDS, headTimeoutMs: 500, silenceTimeoutMs: 500 };
const CREDENTIALS = { username: "robot", password: "secret" };
const BASIC = `Basic ${Buffer.from("robot:secret").toString("base64")}`;

async function serving(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function openClient(t: TestContext, allowPrivateNetwork: boolean, bounds = BOUNDS): StreamClient {
  const client = openStreamClient({ ...bounds, allowPrivateNetwork });
  t.after(() => client.close());
  return client;
}

function exchangeOf(client: StreamClient, origin: string, credentials = CREDENTIALS) {
  const authorization = createAuthorization({
    client,
    clock: systemClock,
    scopes: ["repository:team/app:pull"],
    credentials,
  });
  const exchange = openExchange({
    client,
    clock: systemClock,
    origin,
    authorization,
    retryPolicy: { retries: 1, maxWaitMs: 100 },
  });
  return (target: string) => exchange.read({ target, signal: AbortSignal.timeout(60_000) }, 10_000);
}

test("without private networks, a public registry's redirect to a private address is not followed", async (t) => {
  let asked = 0;
  const inside = await serving(t, (_, res) => {
    asked += 1;
    res.end("inside");
  });
  const registry = await serving(t, (_, res) => void res.writeHead(307, { location: `${inside}/metadata` }).end());
  const [open, closed] = [openClient(t, true), openClient(t, false)];
  // The test's registry is on loopback, so requests to it alone go through the open client.
  const publicRegistry: StreamClient = {
    ...closed,
    request: (url, init) => (url.startsWith(registry) ? open : closed).request(url, init),
  };
  await assert.rejects(exchangeOf(publicRegistry, registry)("/v2/team/app/blobs/x"), { kind: "refused" });
  assert.equal(asked, 0);
  assert.equal((await exchangeOf(open, registry)("/v2/team/app/blobs/x")).body.toString(), "inside");
});

test("credentials go to the realm that the registry names, for the scope of pulling this repository alone", async (t) => {
  const shown: (string | undefined)[] = [];
  const realm = await serving(t, (req, res) => {
    shown.push(req.headers.authorization, req.url);
    res.end(JSON.stringify({ token: "t0ken", expires_in: 300 }));
  });
  const seen: (string | undefined)[] = [];
  const registry = await serving(t, (req, res) => {
    seen.push(req.headers.authorization);
    if (req.headers.authorization === "Bearer t0ken") return res.end("yes");
    return res
      .writeHead(401, {
        "www-authenticate": `Bearer realm="${realm}/token",service="registry",scope="repository:other/secret:pull,push"`,
      })
      .end();
  });
  const read = exchangeOf(openClient(t, true), registry);
  for (let time = 0; time < 2; time += 1) assert.equal((await read("/v2/team/app/tags/list")).body.toString(), "yes");
  assert.deepEqual(seen, [undefined, "Bearer t0ken", "Bearer t0ken"], "one token serves many requests");
  const [authorization, target = ""] = shown;
  assert.equal(authorization, BASIC);
  assert.deepEqual(new URL(target, realm).searchParams.getAll("scope"), ["repository:team/app:pull"]);
  assert.equal(shown.length, 2);
});

test("Basic is sent to a registry that asks for it, nothing to a private realm, and nothing without credentials", async (t) => {
  const seen: (string | undefined)[] = [];
  const registry = await serving(t, (req, res) => {
    seen.push(req.headers.authorization);
    if (req.headers.authorization === BASIC) return res.end("yes");
    return res
      .writeHead(401, {
        "www-authenticate": req.url?.endsWith("basic")
          ? 'Basic realm="here"'
          : 'Bearer realm="http://127.0.0.1:1/token"',
      })
      .end();
  });
  const open = openClient(t, true);
  assert.equal((await exchangeOf(open, registry)("/basic")).body.toString(), "yes");
  await assert.rejects(exchangeOf(open, registry, { username: "", password: "" })("/basic"), {
    kind: "refused",
    message: "the source wants credentials (401)",
  });
  const closed = openClient(t, false);
  const half: StreamClient = {
    ...closed,
    request: (url, init) => (url.startsWith(registry) ? open : closed).request(url, init),
  };
  await assert.rejects(exchangeOf(half, registry)("/bearer"), {
    kind: "refused",
    message: /the server does not fetch that/,
  });
  assert.deepEqual(seen.filter(Boolean), [BASIC]);
});

test("silence, broken connections, encoded and endless answers end with an error of the right kind", async (t) => {
  const registry = await serving(t, (req, res) => {
    if (req.url === "/silent") return;
    if (req.url === "/stops") return void res.writeHead(200).write("x");
    if (req.url === "/cut") return void res.destroy();
    if (req.url === "/encoded") return void res.writeHead(200, { "content-encoding": "gzip" }).end("x");
    if (req.url === "/500") return void res.writeHead(500).end("x".repeat(100_000));
    const timer = setInterval(() => res.write("x".repeat(5_000)), 1);
    res.on("close", () => clearInterval(timer));
  });
  const read = exchangeOf(openClient(t, true), registry);
  const readImpatiently = exchangeOf(openClient(t, true, IMPATIENT), registry);
  for (const target of ["/silent", "/stops"])
    await assert.rejects(readImpatiently(target), { kind: "unreachable" }, target);
  for (const [target, kind] of [
    ["/cut", "unreachable"],
    ["/500", "unreachable"],
    ["/encoded", "refused"],
    ["/endless", "refused"],
  ] as const) {
    await assert.rejects(read(target), { kind }, target);
  }
});
