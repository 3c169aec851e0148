import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { after, before, test, type TestContext } from "node:test";
import { type DiskServer, newDataDir, startDiskServer } from "../support/disk-server.ts";
import { type TestPostgres, startPostgres } from "../support/postgres.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { NO_S3, s3Url, wayTo } from "../support/s3.ts";
import { eventually } from "../support/eventually.ts";

const LIMIT = { timeout: 300_000 };
const DRAIN = { MOORAGE_DRAIN_TIMEOUT: "1s", MOORAGE_ALLOW_PRIVATE_NETWORK: "1" };

let postgres: TestPostgres;
before(async () => {
  postgres = await startPostgres();
});
after(() => postgres.close());

/** The line with which a server ends, and what it says was cut. */
async function endOf(server: DiskServer): Promise<string[]> {
  await server.logged(({ msg }) => msg.startsWith("closed"));
  const line = server.lines.find(({ msg }) => msg.startsWith("closed"));
  return (line?.["cut"] as string[] | undefined) ?? [];
}

/** Sends bytes on a connection of its own, which is destroyed after the test. */
function send(t: TestContext, port: number, text: string): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(text);
  t.after(() => socket.destroy());
  return socket;
}

test("SIGTERM first makes the server not ready, over gRPC too, while requests are still answered", LIMIT, async (t) => {
  const server = await startDiskServer(t, newDataDir(t), { ...DRAIN, MOORAGE_DRAIN_DELAY: "1h" });
  assert.equal((await server.ready()).text, "ready");
  process.kill(server.pid, "SIGTERM");
  const left = await server.until(server.ready, ({ status }) => status === 503);
  assert.equal(left.text, "not ready: it is shutting down");
  assert.equal((await server.healthy()).status, 200);
  assert.equal((await server.write("still")).status, 200, "new connections and requests are still served");
  const health = await server.ask("POST", "/grpc.health.v1.Health/Check", "{}", { "content-type": "application/json" });
  assert.match(health.text, /NOT_SERVING/);
  // Somebody who does not want to wait: the second signal ends the delay.
  assert.equal(await server.stop("SIGINT"), 0);
  assert.deepEqual(await endOf(server), []);
});

test("SIGTERM ends a server while an upload stalls, with code 1, and the log says what was cut", LIMIT, async (t) => {
  const server = await startDiskServer(t, newDataDir(t), DRAIN);
  const bytes = randomBytes(2_000);
  const { path, headers } = server.pushHead(bytes);
  const upload = send(
    t,
    server.port,
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}content-length: 2000\r\n\r\n`,
  );
  upload.write(bytes.subarray(0, 1000));
  await server.until(
    () => server.ask("GET", "/metrics"),
    ({ text }) => /^moorage_blobs_operations_in_flight\{operation="store"\} 1$/m.test(text),
  );
  assert.equal(await server.stop(), 1);
  assert.match((await endOf(server)).join(), /^1 connections were cut after 1 s of draining$/);
});

test("SIGTERM ends a server while a webhook's receiver never answers", LIMIT, async (t) => {
  let asked = 0;
  const receiver = createServer((request, response) => {
    // The handshake is answered, a delivery never.
    const origin = request.headers["webhook-request-origin"];
    if (request.method !== "OPTIONS") return void (asked += 1);
    response.setHeader("webhook-allowed-origin", String(origin)).setHeader("webhook-allowed-rate", "*").end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  const server = await startDiskServer(t, newDataDir(t), DRAIN);
  const created = await server.ask(
    "POST",
    `/events/v2/subscriptions/${server.organization}`,
    JSON.stringify({ sink: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` }),
    { "content-type": "application/json" },
  );
  assert.equal(created.status, 200, created.text);
  assert.equal((await server.write("team")).status, 200);
  await eventually(() => asked !== 0);
  assert.notEqual(typeof (await server.stop()), "string", "it ends by itself");
  await endOf(server);
});

test("SIGTERM ends a server while PostgreSQL is frozen, and the log says what was cut", LIMIT, async (t) => {
  const proxy = await startFaultProxy([postgres.port]);
  t.after(() => proxy.close());
  const url = new URL(postgres.url);
  url.port = String(proxy.port);
  const server = await startDiskServer(t, newDataDir(t), {
    ...DRAIN,
    MOORAGE_DATABASE_URL: url.href,
    MOORAGE_DATABASE_TLS: "disable",
  });
  assert.equal((await server.write("before")).status, 200);
  proxy.drop(true);
  const waiting = server.write("never").catch(() => undefined);
  await server.until(
    () => server.ask("GET", "/metrics"),
    ({ text }) => /^moorage_rpc_requests_in_flight\{service="[\w.]+GroupsService"\} 1$/m.test(text),
  );
  assert.equal(await server.stop(), 1);
  await waiting;
  const cut = await endOf(server);
  assert.ok(
    cut.some((what) => /^(?:writer|store) did not end/.test(what)),
    cut.join(),
  );
});

test("SIGTERM ends a server while S3 stays silent", { ...LIMIT, skip: NO_S3 }, async (t) => {
  const way = await wayTo(t, s3Url());
  const server = await startDiskServer(t, newDataDir(t), { ...DRAIN, MOORAGE_BLOBS_URL: way.url });
  const kept = randomBytes(300_000);
  assert.equal((await server.push(kept)).status, 201);
  way.freeze();
  const pull = server.pull(kept).catch(() => undefined);
  await server.until(
    () => server.ask("GET", "/metrics"),
    ({ text }) => /^moorage_blobs_operations_in_flight\{operation="read"\} 1$/m.test(text),
  );
  assert.equal(await server.stop(), 1);
  await pull;
  assert.match((await endOf(server)).join(), /connections were cut/);
});

test("SIGTERM ends workers one of which hangs, and the log says which was killed", LIMIT, async (t) => {
  const server = await startDiskServer(t, newDataDir(t), { ...DRAIN, MOORAGE_WORKERS: "2" });
  await server.logged(({ msg, worker }) => msg === "listening" && worker === 2);
  const hung = server.lines.find(({ msg, worker }) => msg === "listening" && worker === 2)?.pid ?? 0;
  process.kill(hung, "SIGSTOP");
  assert.equal(await server.stop(), 1);
  await server.logged(({ msg }) => msg.startsWith("all workers ended"));
  const end = server.lines.find(({ msg }) => msg.startsWith("all workers ended"));
  assert.deepEqual(end?.["cut"], ["worker 2 was killed"]);
});
