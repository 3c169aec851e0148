// Faults of an S3 server and of the way to it: spoiled and missing bytes, silence, rejected credentials.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { openS3Blobs } from "../../../kernel/src/blobs/s3.ts";
import { Code, MoorageError } from "../../../kernel/src/errors.ts";
import { digestOf, filled } from "../../../kernel/src/blobs/suite.ts";
import { ConfigError, loadConfig, signToken, startServer } from "../../src/index.ts";
import { databaseEnv, dropDatabase } from "../support/database.ts";
import { temporaryFolder } from "../support/installation.ts";
import { eventually } from "../support/eventually.ts";
import { NO_S3, s3Url, type Way, wayTo } from "../support/s3.ts";

const MIB = 1024 * 1024;

/** Which of the promises settles first. */
async function first(promises: Record<string, Promise<unknown>>): Promise<string> {
  return await Promise.race(Object.entries(promises).map(([name, promise]) => promise.then(() => name)));
}

/** A server that reaches its bucket through a proxy, and gives up on silence after a second. */
async function open(t: TestContext, way: Way, timeout = "1s") {
  const dataDir = temporaryFolder(t);
  const config = loadConfig({
    ...(await databaseEnv(dataDir)),
    MOORAGE_PORT: "0",
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_LOG_LEVEL: "silent",
    MOORAGE_BLOBS_URL: way.url,
    MOORAGE_BLOBS_TIMEOUT: timeout,
  });
  const server = await startServer(config);
  t.after(async () => {
    await server.close();
    await dropDatabase(dataDir);
  });
  const { token } = await signToken({ config, audience: "registry", ttlMs: 600_000 });
  const ask = (method: string, path: string, body?: Uint8Array): Promise<Response> =>
    fetch(new URL(path, server.url), {
      method,
      ...(body !== undefined && { body: new Uint8Array(body) }),
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(120_000),
    });
  const push = async (content: Buffer): Promise<Response> =>
    ask("POST", `/v2/acme/s3/blobs/uploads/?digest=${sha256(content)}`, content);
  const ready = async (): Promise<[number, string]> => {
    const answer = await ask("GET", "/readyz");
    return [answer.status, await answer.text()];
  };
  return { ask, push, ready };
}

const sha256 = (content: Uint8Array): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;

async function isUnavailable(answer: Response, message: RegExp): Promise<void> {
  assert.equal(answer.status, 503);
  assert.ok(Number(answer.headers.get("retry-after")) > 0);
  assert.match(await answer.text(), message);
}

/** Answers every request, or those that write, as S3 does to what it rejects; forwards the others to the port. */
async function rejecting(
  t: TestContext,
  { status, code, writesOnly }: { status: number; code: string; writesOnly?: number },
): Promise<number> {
  const server: Server = createServer((req, res) => {
    const isWrite = req.method !== "GET" && req.method !== "HEAD";
    if (writesOnly !== undefined && !isWrite) {
      const { method, url: path, headers } = req;
      const forwarded = request({ host: "127.0.0.1", port: writesOnly, method, path, headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(res);
      });
      return void req.pipe(forwarded);
    }
    req.resume().once("end", () => {
      res.writeHead(status, { "content-type": "application/xml" });
      if (req.method === "HEAD") return res.end();
      res.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message><RequestId>1</RequestId></Error>`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

if (NO_S3 !== false) {
  test("faults of S3", { skip: NO_S3 }, () => undefined);
} else {
  test("what is read back of an upload and was spoiled on its way is read again, and never becomes a blob", async (t) => {
    const way = await wayTo(t, s3Url());
    const store = await openS3Blobs(way.url);
    for (const sizes of [
      [1000, 2000, 3000],
      [6 * MIB, 1000, 500],
      [1000, 7 * MIB],
    ]) {
      const parts = sizes.map((size) => randomBytes(size));
      const content = Buffer.concat(parts);
      const spoils = parts.map((part) => part.subarray(100, 116));
      const id = await filled(store, parts);
      way.proxy.toClient.rules = spoils.map((after) => ({ after, skip: 10, fault: "flip", times: 1 }));
      const blob = await store.finish(id, digestOf(content));
      assert.ok(
        way.proxy.toClient.rules.some(({ times }) => times === 0),
        "nothing was read back",
      );
      way.proxy.toClient.rules = [];
      assert.ok((await store.readWhole(blob.digest, blob.generation)).equals(content), sizes.join());
      // When every read is spoiled, there is no blob, and the upload stays for another try.
      const again = await filled(store, parts);
      way.proxy.toClient.rules = spoils.map((after) => ({ after, skip: 10, fault: "flip", times: Infinity }));
      await assert.rejects(store.finish(again, digestOf(content)), isCode(Code.Unavailable));
      way.proxy.toClient.rules = [];
      assert.equal(await store.uploadSize(again), content.length);
      await store.finish(again, digestOf(content));
    }
  });

  test("an upload that another process finishes is not called wrong because a read of it was spoiled", async (t) => {
    const way = await wayTo(t, s3Url());
    const parts = [randomBytes(1000), randomBytes(2000)];
    const content = Buffer.concat(parts);
    const id = await filled(await openS3Blobs(way.url), parts);
    const other = await openS3Blobs(way.url);
    way.proxy.toClient.rules = [{ after: content.subarray(100, 116), fault: "flip" }];
    const blob = await other.finish(id, digestOf(content));
    assert.ok((await other.readWhole(blob.digest, blob.generation)).equals(content));
    const wrong = await filled(await openS3Blobs(way.url), parts);
    await assert.rejects(other.finish(wrong, digestOf(randomBytes(8))), isCode(Code.InvalidArgument));
  });

  test("bytes that are spoiled on the way to the server are sent again", async (t) => {
    const way = await wayTo(t, s3Url());
    const store = await openS3Blobs(way.url);
    const content = randomBytes(100_000);
    way.proxy.toServer.rules = [{ after: content.subarray(100, 116), fault: "flip" }];
    const blob = await store.finish(await filled(store, [content]), digestOf(content));
    assert.equal(way.proxy.toServer.rules[0]?.times, 0);
    assert.ok((await store.readWhole(blob.digest, blob.generation)).equals(content));
  });

  test("a download goes on where the server broke off or fell silent", async (t) => {
    const way = await wayTo(t, s3Url());
    const store = await openS3Blobs(way.url, { silenceTimeoutMs: 1000 });
    const content = randomBytes(9 * MIB);
    const blob = await store.finish(await filled(store, [content]), digestOf(content));
    for (const fault of ["cut", "reset", "stall"] as const) {
      way.proxy.toClient.rules = [2, 5].map((at) => ({
        after: content.subarray(at * MIB, at * MIB + 16),
        skip: 1000,
        fault,
      }));
      const received: Buffer[] = [];
      await store.readAll(blob, async (chunk) => void received.push(Buffer.from(chunk)));
      assert.ok(Buffer.concat(received).equals(content), fault);
      assert.deepEqual(
        way.proxy.toClient.rules.map(({ times }) => times),
        [0, 0],
      );
    }
  });

  test("a download that is spoiled on its way is cut before its last byte", async (t) => {
    const way = await wayTo(t, s3Url());
    const { ask, push } = await open(t, way);
    const content = randomBytes(MIB);
    assert.equal((await push(content)).status, 201);
    way.proxy.toClient.rules = [{ after: content.subarray(100, 116), fault: "flip" }];
    const got = await ask("GET", `/v2/acme/s3/blobs/${sha256(content)}`);
    await assert.rejects(got.arrayBuffer());
    // What is stored is right, so that it is served, and no longer taken for damaged.
    const again = await ask("GET", `/v2/acme/s3/blobs/${sha256(content)}`);
    assert.ok(Buffer.from(await again.arrayBuffer()).equals(content));
    await eventually(async () => (await ask("HEAD", `/v2/acme/s3/blobs/${sha256(content)}`)).status === 200);
  });

  test("a server that accepts and never answers is given up soon: 503, and the process is not ready until it answers", async (t) => {
    const way = await wayTo(t, s3Url());
    const { ask, push, ready } = await open(t, way);
    // With a minute, as it used to be.
    const patient = await open(t, way, "1m");
    const content = randomBytes(100_000);
    for (const each of [patient, { push }]) assert.equal((await each.push(content)).status, 201);
    way.proxy.cut();
    way.proxy.accepts = "silence";
    const waiting = patient.ask("GET", `/v2/acme/s3/blobs/${sha256(content)}`).catch(() => undefined);
    const answers = [ask("GET", `/v2/acme/s3/blobs/${sha256(content)}`), push(randomBytes(100_000))];
    assert.equal(await first({ answers: Promise.all(answers), waiting }), "answers");
    for (const answer of answers) await isUnavailable(await answer, /the blob store does not answer/);
    assert.deepEqual((await ready())[0], 503);
    assert.match((await ready())[1], /the blob store does not answer/);
    way.proxy.accepts = "forward";
    way.proxy.cut();
    await eventually(async () => (await ready())[0] === 200);
    assert.ok(
      Buffer.from(await (await ask("GET", `/v2/acme/s3/blobs/${sha256(content)}`)).arrayBuffer()).equals(content),
    );
  });

  test("rejected credentials, a bucket that is gone and a busy server are 503 with the reason, and nothing is lost", async (t) => {
    const way = await wayTo(t, s3Url());
    const { ask, push, ready } = await open(t, way);
    const content = randomBytes(100_000);
    assert.equal((await push(content)).status, 201);
    const { targets } = way.proxy;
    for (const [status, code, words, isReady] of [
      [403, "ExpiredToken", /the blob store denies access/, false],
      [403, "InvalidAccessKeyId", /the blob store denies access/, false],
      [404, "NoSuchBucket", /the blob store is not there/, false],
      [503, "SlowDown", /the blob store is too busy/, true],
    ] as const) {
      way.proxy.targets = [await rejecting(t, { status, code })];
      way.proxy.cut();
      await isUnavailable(await ask("GET", `/v2/acme/s3/blobs/${sha256(content)}`), words);
      await isUnavailable(await push(randomBytes(1000)), words);
      const [readiness, why] = await ready();
      if (!isReady) assert.match(why, words);
      assert.equal(readiness, isReady ? 200 : 503, code);
      way.proxy.targets = targets;
      way.proxy.cut();
      await eventually(async () => (await ready())[0] === 200);
      const got = await ask("GET", `/v2/acme/s3/blobs/${sha256(content)}`);
      assert.ok(Buffer.from(await got.arrayBuffer()).equals(content));
    }
  });

  test("a server does not start on a bucket that it cannot write to, and notices one that has become read-only", async (t) => {
    const way = await wayTo(t, s3Url());
    const { ask, push, ready } = await open(t, way);
    const content = randomBytes(100_000);
    assert.equal((await push(content)).status, 201);
    const { targets } = way.proxy;
    way.proxy.targets = [
      await rejecting(t, { status: 403, code: "AccessDenied", ...(targets[0] && { writesOnly: targets[0] }) }),
    ];
    way.proxy.cut();
    await isUnavailable(await push(randomBytes(1000)), /the blob store denies access/);
    await eventually(async () => /the blob store is read-only/.test((await ready())[1]));
    const got = await ask("GET", `/v2/acme/s3/blobs/${sha256(content)}`);
    assert.ok(Buffer.from(await got.arrayBuffer()).equals(content), "what is there is still served");
    await assert.rejects(
      open(t, way),
      (error: Error) =>
        error instanceof ConfigError &&
        error.message.startsWith("MOORAGE_BLOBS_URL: the bucket cannot be written to: the blob store is read-only"),
    );
    way.proxy.targets = targets;
    way.proxy.cut();
    await eventually(async () => (await ready())[0] === 200);
    assert.equal((await push(randomBytes(1000))).status, 201);
  });
}

function isCode(code: Code): (error: unknown) => boolean {
  return (error) => error instanceof MoorageError && error.code === code;
}
