// Clients that wait for `100 Continue` before they send a body: curl, Java's HTTP clients (Maven), Go's with a
// time-out. An attacker may do so as well.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as http2Connect } from "node:http2";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, test, type TestContext } from "node:test";
import { type Platform, startPlatform } from "../support/platform.ts";

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
});
after(() => platform.close());

const JSON_TYPE = "Content-Type: application/json";
const UPLOAD = `/v2/acme/app/blobs/uploads/${"0".repeat(32)}`;
/** A request that writes, in each protocol. */
const WRITES = [
  `POST /v2/acme/app/blobs/uploads/?digest=sha256:${"0".repeat(64)} HTTP/1.1`,
  `PATCH ${UPLOAD} HTTP/1.1`,
  `PUT ${UPLOAD}?digest=sha256:${"0".repeat(64)} HTTP/1.1`,
  "PUT /v2/acme/app/manifests/v1 HTTP/1.1",
  `PUT /npm/acme/left-pad HTTP/1.1\r\n${JSON_TYPE}`,
  `PUT /npm/acme/-/package/left-pad/dist-tags/next HTTP/1.1\r\n${JSON_TYPE}`,
  "POST /pypi/acme/legacy/ HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x",
  "PUT /maven/acme/-/org/example/app/1.0/app-1.0.jar HTTP/1.1",
  "PUT /maven/acme/-/org/example/app/1.0/app-1.0.jar.sha1 HTTP/1.1",
  `POST /iam/v2/groups HTTP/1.1\r\n${JSON_TYPE}`,
  `PATCH /iam/v2/groups/${"0".repeat(40)} HTTP/1.1\r\n${JSON_TYPE}`,
  `POST /moorage.iam.v2.GroupsService/ListGroups HTTP/1.1\r\n${JSON_TYPE}`,
  `POST /mcp HTTP/1.1\r\n${JSON_TYPE}`,
];
const BODY_BYTES = 200_000;

function open(t: TestContext): Socket {
  const socket = connect({ port: Number(new URL(platform.url).port), host: "127.0.0.1" });
  t.after(() => socket.destroy());
  return socket;
}

function begin(socket: Socket, head: string, framing = `Content-Length: ${BODY_BYTES}`): void {
  const host = new URL(platform.url).host;
  socket.write(`${head}\r\nHost: ${host}\r\nExpect: 100-continue\r\n${framing}\r\n\r\n`);
}

/** What arrived when the text has the end that is waited for, or the server has closed its side. */
async function arrived(socket: Socket, end: RegExp): Promise<string> {
  let all = "";
  const { promise, resolve } = Promise.withResolvers<void>();
  const take = (chunk: Buffer): void => {
    all += chunk.toString("latin1");
    if (end.test(all)) resolve();
  };
  socket.on("data", take).once("end", resolve);
  await promise;
  socket.off("data", take).off("end", resolve);
  return all;
}

test("without a token 401 comes in place of 100 Continue, and the connection ends, in every protocol that writes", async (t) => {
  for (const head of WRITES) {
    const socket = open(t);
    begin(socket, head);
    const answer = await text(socket);
    assert.match(answer, /^HTTP\/1\.1 401 [^]*\r\nconnection: close\r\n/i, head);
    assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1, answer);
  }
});

test("what a rejected client sends all the same is dropped, and is never a request", async (t) => {
  const hidden = `GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n`;
  for (const framing of [`Content-Length: ${BODY_BYTES}`, "Transfer-Encoding: chunked"]) {
    const chunked = framing.startsWith("Transfer");
    const socket = open(t);
    begin(socket, "PUT /v2/acme/app/manifests/v1 HTTP/1.1", framing);
    const answer = await arrived(socket, /\r\n\r\n\{.*\}$/);
    // Larger than the buffers of both systems, so that it is read.
    const body = hidden.repeat(Math.ceil(BODY_BYTES / hidden.length)).slice(0, BODY_BYTES);
    socket.write(chunked ? `${BODY_BYTES.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body);
    socket.write(hidden);
    const rest = await text(socket).catch((error: NodeJS.ErrnoException) => error.code);
    assert.match(answer, /^HTTP\/1\.1 401 /);
    assert.equal(rest, "", framing);
  }
  // One that goes on with the next request in place of the body.
  const socket = open(t);
  begin(socket, "PUT /v2/acme/app/manifests/v1 HTTP/1.1");
  const answer = await arrived(socket, /\r\n\r\n\{.*\}$/);
  socket.end(hidden);
  assert.match(answer, /\r\nconnection: close\r\n/i);
  assert.equal(await text(socket), "");
});

test("a client that sends its body without waiting gets its whole answer", async (t) => {
  const socket = open(t);
  begin(socket, "PUT /v2/acme/app/manifests/v1 HTTP/1.1", "Content-Length: 8000000");
  for (let at = 0; at < 8; at += 1) socket.write(Buffer.alloc(1_000_000));
  const answer = await text(socket);
  assert.match(answer, /^HTTP\/1\.1 401 [^]*UNAUTHORIZED/);
});

test("with a token 100 Continue comes, and after the body the connection goes on", async (t) => {
  const registry = await platform.token(undefined, { audience: new URL(platform.url).host });
  const group = platform.organization;
  const begun = await platform.call("POST", "/v2/acme/app/blobs/uploads/", { token: registry });
  const upload = new URL(begun.headers["location"] ?? "", platform.url).pathname;
  for (const [head, body, status] of [
    [`PATCH ${upload} HTTP/1.1\r\nAuthorization: Bearer ${registry}`, "layer", 202],
    ["PUT /v2/acme/app/manifests/v1 HTTP/1.1\r\nAuthorization: Bearer " + registry, "{}", 400],
    [`PUT /maven/acme/-/org/example/app/1.0/app-1.0.jar HTTP/1.1\r\nAuthorization: Bearer ${token}`, "jar", 201],
    [`PUT /npm/acme/left-pad HTTP/1.1\r\n${JSON_TYPE}\r\nAuthorization: Bearer ${token}`, "{}", 400],
    [`POST /iam/v2/groups/${group} HTTP/1.1\r\n${JSON_TYPE}\r\nAuthorization: Bearer ${token}`, '{"name":"x"}', 200],
    ["POST /token HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded", "grant_type=x", 400],
  ] as const) {
    const socket = open(t);
    begin(socket, head, `Content-Length: ${body.length}`);
    assert.equal(await arrived(socket, /\r\n\r\n$/), "HTTP/1.1 100 Continue\r\n\r\n", head);
    socket.write(body);
    socket.end("GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const answers = await text(socket);
    assert.match(answers, new RegExp(`^HTTP/1\\.1 ${status} `), head);
    assert.match(answers, /HTTP\/1\.1 200 OK[^]*ready$/, head);
  }
});

test("a body that is too large by its Content-Length is not asked for", async (t) => {
  const socket = open(t);
  const head = `POST /iam/v2/groups/${platform.organization} HTTP/1.1\r\n${JSON_TYPE}\r\nAuthorization: Bearer ${token}`;
  begin(socket, head, "Content-Length: 1000000000");
  assert.match(await text(socket), /^HTTP\/1\.1 4\d\d [^]*\r\nconnection: close\r\n/i);
});

test("over HTTP/2 as well: 401 without 100 Continue, and the connection goes on", async (t) => {
  const session = http2Connect(platform.url);
  t.after(() => session.destroy());
  for (const path of [
    "/v2/acme/app/manifests/v1",
    "/npm/acme/left-pad",
    "/maven/acme/-/org/example/app/1.0/app-1.0.jar",
  ]) {
    const stream = session.request({ ":method": "PUT", ":path": path, expect: "100-continue" });
    let continued = false;
    stream.on("continue", () => (continued = true));
    const [headers] = (await once(stream, "response")) as [{ ":status": number }];
    assert.deepEqual([headers[":status"], continued], [401, false], path);
    stream.close();
  }
});
