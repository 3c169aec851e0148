import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect as http2Connect } from "node:http2";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { startInstallation } from "../support/installation.ts";
import { eventually } from "../support/eventually.ts";

// An attacker without a token that opens many connections and sends a byte now and then. Linux answers on all addresses
// of 127.0.0.0/8, so that the attacker and others come from different ones.

const LIMIT = { timeout: 300_000 };
const ATTACKER = "127.0.0.1";
const OTHER = "127.0.0.2";
const PER_ADDRESS = 40;
const BODY_TIMEOUT_MS = 1_000;
const DRIP_EVERY_MS = 100;

async function startServer(t: TestContext, bodyTimeoutMs = BODY_TIMEOUT_MS) {
  const server = await startInstallation(t, {
    MOORAGE_BODY_TIMEOUT: `${bodyTimeoutMs}ms`,
    MOORAGE_CONNECTIONS_ADDRESS: String(PER_ADDRESS),
  });
  const port = Number(new URL(server.url).port);
  return { ...server, port };
}

/** A connection that begins a request and then sends a byte of its body now and then, for as long as it may. */
function drip(t: TestContext, port: number, head: string): { socket: Socket; ended: Promise<string>; last(): void } {
  const socket = connect({ port, host: "127.0.0.1", localAddress: ATTACKER });
  let text = "";
  socket.on("data", (bytes) => (text += bytes.toString("latin1")));
  socket.on("error", () => {});
  socket.write(`${head}\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const timer = setInterval(() => socket.write("1\r\na\r\n"), DRIP_EVERY_MS);
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  void ended.then(() => clearInterval(timer));
  t.after(() => {
    clearInterval(timer);
    socket.destroy();
  });
  /** Ends the body. */
  const last = (): void => {
    clearInterval(timer);
    socket.write("0\r\n\r\n");
  };
  return { socket, ended, last };
}

/** The status of a request by another client, from another address. */
async function statusFor(port: number, path: string, token: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${token}` };
  const asked = httpRequest({ port, host: "127.0.0.1", localAddress: OTHER, path, headers, agent: false });
  asked.end();
  const [answer] = await once(asked, "response");
  answer.resume();
  return answer.statusCode as number;
}

const FORM = "Content-Type: application/x-www-form-urlencoded";
const HEADS = {
  "an exchange": "POST /sts/exchange HTTP/1.1\r\nAuthorization: Bearer x.y.z",
  "an exchange without a token": "POST /sts/exchange HTTP/1.1",
  "a token request": `POST /sts/token HTTP/1.1\r\n${FORM}`,
  "the registry's token endpoint": `POST /token HTTP/1.1\r\n${FORM}`,
  "a device": `POST /oauth/device_authorization HTTP/1.1\r\n${FORM}`,
  "a method by REST": "POST /iam/v2/groups HTTP/1.1\r\nContent-Type: application/json",
  "a public method by Connect": "POST /moorage.ping.v2.PingService/Ping HTTP/1.1\r\nContent-Type: application/json",
  "an upload": "POST /v2/acme/app/blobs/uploads/ HTTP/1.1",
  "an npm package": "PUT /npm/acme/app HTTP/1.1",
  "a Python project": "POST /pypi/acme/legacy/ HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b",
  "a Maven artifact": "PUT /maven/acme/-/org/example/app/1.0/app-1.0.jar HTTP/1.1",
  nothing: "POST /no-such-path HTTP/1.1",
};

test("a body that is dripped without a token is ended, at every endpoint", LIMIT, async (t) => {
  const { port } = await startServer(t);
  const all = Object.entries(HEADS).map(([what, head]) =>
    drip(t, port, head).ended.then((text) => [what, text] as const),
  );
  for (const [what, text] of await Promise.all(all)) assert.match(text, /^HTTP\/1\.1 4/, what);
});

test("a message that is dripped into gRPC without a token is ended", LIMIT, async (t) => {
  const { url } = await startServer(t);
  const session = http2Connect(url);
  session.on("error", () => {});
  t.after(() => session.destroy());
  for (const path of ["/moorage.iam.v2.GroupsService/ListGroups", "/moorage.ping.v2.PingService/Ping"]) {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", () => {});
    stream.write(Buffer.from([0, 0, 0, 1]));
    const timer = setInterval(() => stream.destroyed || stream.write(Buffer.from([0])), DRIP_EVERY_MS * 5);
    t.after(() => clearInterval(timer));
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    stream.resume().once("close", resolve);
    await ended;
    clearInterval(timer);
  }
});

test("who is authenticated may take any time for a body", LIMIT, async (t) => {
  const { port, ask, registry } = await startServer(t);
  const begun = await ask("POST", "/v2/acme/app/blobs/uploads/", { token: registry });
  const path = new URL(begun.headers.get("location") ?? "", "http://x").pathname;
  const head = `PATCH ${path} HTTP/1.1\r\nAuthorization: Bearer ${registry}\r\nContent-Type: application/octet-stream\r\nConnection: close`;
  const { ended, last } = drip(t, port, head);
  await wait(3 * BODY_TIMEOUT_MS);
  last();
  assert.match(await ended, /^HTTP\/1\.1 202 /);
});

test("an address takes so many connections and no more, and others are answered", LIMIT, async (t) => {
  // Those that are taken stay open until the end of the test.
  const { port, platform } = await startServer(t, LIMIT.timeout);
  const held = Array.from({ length: 2 * PER_ADDRESS }, () =>
    drip(t, port, "POST /token HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded"),
  );
  await Promise.all(
    held.map(({ socket }) => (socket.connecting ? once(socket, "connect").catch(() => {}) : undefined)),
  );
  const closed: string[] = [];
  for (const { ended } of held) void ended.then((text) => closed.push(text));
  assert.equal(await statusFor(port, "/iam/v2/groups", platform), 200);
  await eventually(() => closed.length >= PER_ADDRESS);
  assert.equal(await statusFor(port, "/iam/v2/groups", platform), 200);
  assert.deepEqual(
    closed,
    Array.from({ length: PER_ADDRESS }, () => ""),
    "those above the limit are closed without an answer",
  );
});

test("without a token 401 is answered before any body arrives", LIMIT, async (t) => {
  const { url } = await startInstallation(t);
  const port = Number(new URL(url).port);
  const json = "Content-Type: application/json";
  for (const head of [
    "POST /sts/exchange HTTP/1.1",
    "POST /sts/exchange_refresh_token HTTP/1.1",
    `POST /iam/v2/groups HTTP/1.1\r\n${json}`,
    `POST /moorage.iam.v2.GroupsService/ListGroups HTTP/1.1\r\n${json}`,
    "PUT /v2/acme/app/manifests/v1 HTTP/1.1",
    "POST /v2/acme/app/blobs/uploads/ HTTP/1.1",
  ]) {
    const socket = connect({ port, host: "127.0.0.1" });
    t.after(() => socket.destroy());
    socket.write(`${head}\r\nHost: x\r\nContent-Length: 100\r\n\r\n`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    assert.match(answer.toString("latin1"), /^HTTP\/1\.1 401 /, head);
  }
  const session = http2Connect(url);
  t.after(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/moorage.iam.v2.GroupsService/ListGroups",
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.on("error", () => {});
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  assert.equal(headers["grpc-status"], "16");
});
