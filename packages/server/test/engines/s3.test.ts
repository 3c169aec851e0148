import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { openS3Blobs } from "../../../kernel/src/blobs/s3.ts";
import { ConfigError, loadConfig, signToken, startServer } from "../../src/index.ts";
import { temporaryFolder } from "../support/installation.ts";
import { startProcess } from "../support/processes.ts";
import { NO_S3, s3Url, wayTo } from "../support/s3.ts";

const MIB = 1024 * 1024;
const REPO = "acme/s3";

function digestOf(content: Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

type Body = Uint8Array | AsyncIterable<Uint8Array>;

/** Requests to a server by path, with the token of its first identity. */
async function asker(url: string, dataDir: string) {
  const { token } = await signToken({
    config: loadConfig({ MOORAGE_DATA_DIR: dataDir }),
    audience: "registry",
    ttlMs: 600_000,
  });
  interface Options {
    body?: Body;
    headers?: Record<string, string>;
  }
  return (method: string, path: string, { body, headers = {} }: Options = {}): Promise<Response> =>
    fetch(new URL(path, url), {
      method,
      body,
      duplex: "half",
      redirect: "manual",
      headers: { authorization: `Bearer ${token}`, ...headers },
      signal: AbortSignal.timeout(60_000),
    } as RequestInit);
}

type Ask = Awaited<ReturnType<typeof asker>>;

async function start(
  t: TestContext,
  blobsUrl: string,
  more: Record<string, string> = {},
): Promise<{ ask: Ask; dataDir: string }> {
  const dataDir = temporaryFolder(t);
  const settings = {
    MOORAGE_PORT: "0",
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_LOG_LEVEL: "silent",
    MOORAGE_BLOBS_URL: blobsUrl,
  };
  const server = await startServer(loadConfig({ ...settings, ...more }));
  t.after(() => server.close());
  return { ask: await asker(server.url, dataDir), dataDir };
}

async function push(ask: Ask, content: Buffer, repo = REPO): Promise<string> {
  const digest = digestOf(content);
  const response = await ask("POST", `/v2/${repo}/blobs/uploads/?digest=${digest}`, { body: content });
  assert.equal(response.status, 201, await response.text());
  return digest;
}

async function begin(ask: Ask): Promise<string> {
  const response = await ask("POST", `/v2/${REPO}/blobs/uploads/`);
  assert.equal(response.status, 202);
  return response.headers.get("location") ?? "";
}

async function bytes(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

async function isUnavailable(response: Response): Promise<void> {
  assert.equal(response.status, 503);
  assert.ok(Number(response.headers.get("retry-after")) > 0);
  const { errors, message } = (await response.json()) as { errors: { message: string }[]; message: string };
  assert.equal(message, "Unavailable: the blob store cannot be reached");
  assert.equal(errors[0]?.message, message);
}

async function blobsAt(url: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { digest } of (await openS3Blobs(url)).listBlobs()) found.push(digest);
  return found;
}

if (NO_S3 !== false) {
  test("S3", { skip: NO_S3 }, () => undefined);
} else {
  test("images are written to the bucket and read from it, whole and in ranges, and nothing of them is in the data folder", async (t) => {
    const url = s3Url();
    const { ask, dataDir } = await start(t, url);
    for (const size of [0, 1, 100, 64 * 1024 + 1, 9 * MIB + 5]) {
      const content = randomBytes(size);
      const path = `/v2/${REPO}/blobs/${await push(ask, content)}`;
      const head = await ask("HEAD", path);
      assert.equal(head.headers.get("content-length"), String(size));
      assert.ok((await bytes(await ask("GET", path))).equals(content));
      if (size < 2) continue;
      for (const [range, start, end] of [
        ["0-0", 0, 1],
        ["1-", 1, size],
        [`-${size - 1}`, 1, size],
        [`${size - 2}-${size + 9}`, size - 2, size],
      ] as const) {
        const part = await ask("GET", path, { headers: { range: `bytes=${range}` } });
        assert.equal(part.status, 206);
        assert.ok((await bytes(part)).equals(content.subarray(start, end)), `${size} ${range}`);
      }
      assert.equal((await ask("GET", path, { headers: { range: `bytes=${size}-` } })).status, 416);
    }
    assert.equal((await blobsAt(url)).length, 5);
    assert.ok(!existsSync(join(dataDir, "blobs")) && !existsSync(join(dataDir, "uploads")));
    const config = Buffer.from("{}");
    const descriptor = {
      mediaType: "application/vnd.oci.image.config.v1+json",
      digest: await push(ask, config),
      size: config.length,
    };
    const type = "application/vnd.oci.image.manifest.v1+json";
    const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: type, config: descriptor, layers: [] }));
    assert.equal(
      (await ask("PUT", `/v2/${REPO}/manifests/latest`, { body: manifest, headers: { "content-type": type } })).status,
      201,
    );
    assert.deepEqual(await bytes(await ask("GET", `/v2/${REPO}/manifests/latest`)), manifest);
  });

  test("an upload in chunks answers its offset, and continues from there", async (t) => {
    const { ask } = await start(t, s3Url());
    const content = randomBytes(7 * MIB);
    const upload = await begin(ask);
    const chunk = (from: number, to: number): Promise<Response> =>
      ask("PATCH", upload, { body: content.subarray(from, to), headers: { "content-range": `${from}-${to - 1}` } });
    assert.equal((await chunk(0, 1000)).status, 202);
    assert.equal((await chunk(2000, 3000)).status, 416);
    assert.equal((await chunk(1000, 6 * MIB)).headers.get("range"), `0-${6 * MIB - 1}`);
    assert.equal((await ask("GET", upload)).headers.get("range"), `0-${6 * MIB - 1}`);
    const done = await ask("PUT", `${upload}?digest=${digestOf(content)}`, { body: content.subarray(6 * MIB) });
    assert.equal(done.status, 201);
    assert.ok((await bytes(await ask("GET", done.headers.get("location") ?? ""))).equals(content));
    assert.equal((await ask("GET", upload)).status, 404);
  });

  test("a mount creates no new object", async (t) => {
    const url = s3Url();
    const { ask } = await start(t, url);
    const content = randomBytes(1000);
    const digest = await push(ask, content);
    const mounted = await ask("POST", `/v2/acme/other/blobs/uploads/?mount=${digest}&from=${REPO}`);
    assert.equal(mounted.status, 201);
    assert.ok((await bytes(await ask("GET", `/v2/acme/other/blobs/${digest}`))).equals(content));
    assert.deepEqual(await blobsAt(url), [digest]);
    assert.equal((await ask("DELETE", `/v2/${REPO}/blobs/${digest}`)).status, 202);
    assert.equal((await ask("GET", `/v2/acme/other/blobs/${digest}`)).status, 200);
    assert.equal((await ask("DELETE", `/v2/acme/other/blobs/${digest}`)).status, 202);
    assert.deepEqual(await blobsAt(url), []);
  });

  test("with the setting, clients that may pull a blob are redirected to the S3 server, for a limited time", async (t) => {
    const { ask } = await start(t, s3Url(), { MOORAGE_BLOBS_REDIRECT: "1", MOORAGE_BLOBS_REDIRECT_TTL: "90s" });
    for (const size of [10, 200_000]) {
      const content = randomBytes(size);
      const path = `/v2/${REPO}/blobs/${await push(ask, content)}`;
      const sent = await ask("GET", path, { headers: { range: "bytes=1-3" } });
      assert.equal(sent.status, 307);
      assert.equal(sent.headers.get("cache-control"), "no-store");
      const location = sent.headers.get("location") ?? "";
      assert.equal(new URL(location).searchParams.get("X-Amz-Expires"), "90");
      assert.ok((await bytes(await fetch(location))).equals(content));
      const part = await fetch(location, { headers: { range: "bytes=1-3" } });
      assert.equal(part.status, 206);
      assert.ok((await bytes(part)).equals(content.subarray(1, 4)));
      assert.equal((await fetch(location, { method: "DELETE" })).status, 403);
      const page = await ask("GET", path, { headers: { "sec-fetch-site": "same-origin" } });
      assert.equal(page.status, 200, "pages of this server may reach no other");
      assert.ok((await bytes(page)).equals(content));
      const head = await ask("HEAD", path);
      assert.deepEqual([head.status, head.headers.get("content-length")], [200, String(size)]);
      assert.equal(
        (await ask("GET", path, { headers: { "if-none-match": head.headers.get("etag") ?? "" } })).status,
        304,
      );
      assert.equal((await fetch(new URL(path, head.url), { redirect: "manual" })).status, 401);
      assert.equal((await ask("GET", `/v2/${REPO}/blobs/${digestOf(randomBytes(8))}`)).status, 404);
    }
  });

  test("an S3 server that fails during an upload is reported, nothing incomplete is stored, and the upload continues when it is back", async (t) => {
    const url = s3Url();
    const way = await wayTo(t, url);
    const { ask } = await start(t, way.url);
    const content = randomBytes(20 * MIB);
    const digest = digestOf(content);
    for (const [method, path] of [
      ["PATCH", await begin(ask)],
      ["POST", `/v2/${REPO}/blobs/uploads/?digest=${digest}`],
    ] as const) {
      const passed = way.sent(4 * MIB);
      const body = async function* (): AsyncGenerator<Uint8Array> {
        yield content.subarray(0, 12 * MIB);
        await passed;
        await way.cut();
        yield content.subarray(12 * MIB);
      };
      await isUnavailable(
        await ask(method, path, { body: body(), headers: { "content-type": "application/octet-stream" } }),
      );
      const whole = randomBytes(100);
      await isUnavailable(await ask("PUT", `${await begin(ask)}?digest=${digestOf(whole)}`, { body: whole }));
      assert.deepEqual(await blobsAt(url), []);
      await way.mend();
      if (method === "PATCH") assert.equal((await ask("GET", path)).status, 204);
      if (method === "PATCH")
        assert.equal((await ask("PATCH", path, { body: content })).headers.get("range"), `0-${content.length - 1}`);
      const done =
        method === "PATCH" ? await ask("PUT", `${path}?digest=${digest}`) : await ask("POST", path, { body: content });
      assert.equal(done.status, 201, await done.text());
      assert.ok((await bytes(await ask("GET", `/v2/${REPO}/blobs/${digest}`))).equals(content));
      assert.equal((await ask("DELETE", `/v2/${REPO}/blobs/${digest}`)).status, 202);
    }
  });

  test("an S3 server that fails during a download ends it early, and the download can be repeated when it is back", async (t) => {
    const url = s3Url();
    const way = await wayTo(t, url);
    const { ask } = await start(t, way.url);
    const content = randomBytes(48 * MIB);
    const path = `/v2/${REPO}/blobs/${await push(ask, content)}`;
    const response = await ask("GET", path);
    assert.equal(response.status, 200);
    let received = 0;
    await assert.rejects(async () => {
      for await (const chunk of response.body ?? []) {
        if (received === 0) await way.cut();
        received += chunk.length;
      }
    });
    assert.ok(received > 0 && received < content.length);
    await isUnavailable(await ask("GET", path));
    await way.mend();
    assert.ok((await bytes(await ask("GET", path))).equals(content));
  });

  test("an unusable bucket stops the start, with an error that names the setting and what is wrong", async (t) => {
    const url = s3Url();
    const gone = await wayTo(t, url);
    await gone.cut();
    const begins = async (blobsUrl: string, message: RegExp): Promise<void> => {
      const settings = loadConfig({
        MOORAGE_PORT: "0",
        MOORAGE_DATA_DIR: temporaryFolder(t),
        MOORAGE_LOG_LEVEL: "silent",
        MOORAGE_BLOBS_URL: blobsUrl,
      });
      await assert.rejects(
        startServer(settings),
        (error: Error) => error instanceof ConfigError && message.test(error.message),
      );
    };
    await begins(url.replace("s3://", "s3://another-"), /^MOORAGE_BLOBS_URL: bucket: there is no such bucket$/);
    await begins(gone.url, /^MOORAGE_BLOBS_URL: the bucket cannot be used: ECONNREFUSED$/);
    await begins(`${url}&stile=path`, /^MOORAGE_BLOBS_URL: stile: /);
    const secret = process.env["AWS_SECRET_ACCESS_KEY"];
    process.env["AWS_SECRET_ACCESS_KEY"] = "wrong";
    t.after(() => {
      process.env["AWS_SECRET_ACCESS_KEY"] = secret;
    });
    await begins(url, /^MOORAGE_BLOBS_URL: the bucket cannot be used: 403 SignatureDoesNotMatch$/);
  });

  test(
    "memory does not grow with a blob's size",
    { skip: existsSync("/proc/self/status") ? false : "needs /proc" },
    async (t) => {
      const dataDir = temporaryFolder(t);
      const server = await startProcess(t, {
        MOORAGE_DATA_DIR: dataDir,
        MOORAGE_LOG_LEVEL: "error",
        MOORAGE_BLOBS_URL: s3Url(),
      });
      const ask = await asker(server.url, dataDir);
      const peakMib = (): number =>
        Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;
      const block = randomBytes(MIB);
      const through = async (mib: number): Promise<number> => {
        const hash = createHash("sha256");
        const body = async function* (): AsyncGenerator<Uint8Array> {
          for (let at = 0; at < mib; at++) {
            hash.update(block);
            yield block;
          }
        };
        const upload = await begin(ask);
        assert.equal((await ask("PATCH", upload, { body: body() })).status, 202);
        const done = await ask("PUT", `${upload}?digest=sha256:${hash.digest("hex")}`);
        assert.equal(done.status, 201);
        let received = 0;
        for await (const chunk of (await ask("GET", done.headers.get("location") ?? "")).body ?? [])
          received += chunk.length;
        assert.equal(received, mib * MIB);
        return peakMib();
      };
      // What is held in memory at most is there after the first blob: parts being collected and sent.
      const small = await through(48);
      const large = await through(400);
      assert.ok(large - small < 100, `peak ${small} MiB after 48 MiB, ${large} MiB after 400 MiB`);
      t.diagnostic(`peak ${Math.round(small)} MiB after 48 MiB, ${Math.round(large)} MiB after 400 MiB`);
    },
  );
}
