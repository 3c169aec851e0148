// Stored content that is missing or damaged: it is never served as if it were right, and the next push replaces it,
// in every repo, whatever way it comes by.
import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { Writable } from "node:stream";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import { loadConfig, signToken, startServer } from "../../src/index.ts";
import { mergeSnapshots } from "../../../kernel/src/observe/index.ts";
import { databaseEnv, dropDatabase } from "../support/database.ts";
import { temporaryFolder } from "../support/installation.ts";
import { contentInFiles, contentInS3, type StoredContent } from "../support/stored-content.ts";
import { NO_S3, s3Url } from "../support/s3.ts";

const OCI_IMAGE = "application/vnd.oci.image.manifest.v1+json";
const LARGE = 700_000;

interface House {
  content: StoredContent;
  ask(method: string, path: string, body?: Uint8Array, headers?: Record<string, string>): Promise<Response>;
  /** The lines of level error, and of the log at all, that name the digest. */
  logged(digest: string): { level: number; msg: string }[];
  metric(line: RegExp): Promise<number>;
}

async function open(t: TestContext, blobsUrl: string, env: Record<string, string> = {}): Promise<House> {
  const dataDir = temporaryFolder(t);
  const lines: { level: number; msg: string; digest?: string }[] = [];
  const stream = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(JSON.parse(line.toString()) as (typeof lines)[number]);
      done();
    },
  });
  const config = loadConfig({
    ...(await databaseEnv(dataDir)),
    MOORAGE_PORT: "0",
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_BLOBS_URL: blobsUrl,
    ...env,
  });
  const server = await startServer(config, { log: pino({ level: "info" }, stream) });
  t.after(async () => {
    await server.close();
    await dropDatabase(dataDir);
  });
  const { token } = await signToken({ config, audience: "registry", ttlMs: 600_000 });
  return {
    content: blobsUrl === "" ? contentInFiles(dataDir) : contentInS3(blobsUrl),
    ask: (method, path, body, headers = {}) =>
      fetch(new URL(path, server.url), {
        method,
        ...(body !== undefined && { body: new Uint8Array(body) }),
        redirect: "manual",
        headers: { authorization: `Bearer ${token}`, ...headers },
        signal: AbortSignal.timeout(60_000),
      }),
    logged: (digest) => lines.filter((line) => line.digest === digest),
    async metric(line) {
      const text = await mergeSnapshots([await server.snapshot()]);
      return Number(line.exec(text)?.[1] ?? 0);
    },
  };
}

const digestOf = (content: Uint8Array): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;
const blobPath = (repo: string, content: Uint8Array): string => `/v2/acme/${repo}/blobs/${digestOf(content)}`;

async function push({ ask }: House, repo: string, content: Buffer): Promise<void> {
  const pushed = await ask("POST", `/v2/acme/${repo}/blobs/uploads/?digest=${digestOf(content)}`, content);
  assert.equal(pushed.status, 201, await pushed.text());
}

/** Pushes as docker does: asks first, and in three requests. */
async function pushUnlessThere({ ask }: House, repo: string, content: Buffer): Promise<"there" | "pushed"> {
  if ((await ask("HEAD", blobPath(repo, content))).status === 200) return "there";
  const begun = await ask("POST", `/v2/acme/${repo}/blobs/uploads/`);
  const upload = begun.headers.get("location") ?? "";
  assert.equal((await ask("PATCH", upload, content)).status, 202);
  assert.equal((await ask("PUT", `${upload}?digest=${digestOf(content)}`)).status, 201);
  return "pushed";
}

async function isRight({ ask }: House, repo: string, content: Buffer): Promise<void> {
  const got = await ask("GET", blobPath(repo, content));
  assert.equal(got.status, 200);
  assert.ok(Buffer.from(await got.arrayBuffer()).equals(content));
  const head = await ask("HEAD", blobPath(repo, content));
  assert.deepEqual([head.status, head.headers.get("content-length")], [200, String(content.length)]);
}

function flipped(content: Buffer): Buffer {
  const changed = Buffer.from(content);
  changed[1000] = (changed[1000] ?? 0) ^ 1;
  return changed;
}

const stores: [name: string, url: () => string][] = [["files", () => ""]];
if (NO_S3 === false) stores.push(["S3", () => s3Url()]);
else test("lost content in S3", { skip: NO_S3 }, () => undefined);

for (const [name, url] of stores) {
  test(`${name}: content that is missing or too short is not there for anybody, and a push replaces it in every repo`, async (t) => {
    const house = await open(t, url());
    for (const [size, change] of [
      [2000, () => undefined],
      [LARGE, () => undefined],
      [2000, (content: Buffer) => content.subarray(0, 500)],
      [LARGE, (content: Buffer) => content.subarray(0, 5000)],
      ...(name === "S3" ? [] : [[LARGE, (content: Buffer) => Buffer.concat([content, Buffer.from("more")])] as const]),
    ] as const) {
      const content = randomBytes(size);
      const digest = digestOf(content);
      for (const repo of ["one", "two"]) await push(house, repo, content);
      const { found, replaced } = await counts(house);
      await house.content.change(digest, change);
      // Without a look at it first, by a client that does not ask.
      await push(house, "one", content);
      for (const repo of ["one", "two"]) await isRight(house, repo, content);
      await house.content.change(digest, change);
      await noticed(house, content, name);
      assert.equal((await house.ask("HEAD", blobPath("two", content))).status, 404);
      assert.equal(await pushUnlessThere(house, "two", content), "pushed");
      for (const repo of ["one", "two"]) await isRight(house, repo, content);
      assert.equal(await house.content.copies(digest), 1);
      assert.deepEqual(await counts(house), { found: found + 2, replaced: replaced + 2 });
      assert.deepEqual(
        house.logged(digest).map(({ level }) => level),
        [50, 30, 50, 30],
      );
    }
  });

  test(`${name}: a read that would end in wrong bytes is cut before the last of them, and the next push replaces these`, async (t) => {
    const house = await open(t, url());
    const content = randomBytes(LARGE);
    await push(house, "one", content);
    await house.content.change(digestOf(content), flipped);
    const got = await house.ask("GET", blobPath("one", content));
    assert.deepEqual([got.status, got.headers.get("content-length")], [200, String(LARGE)]);
    let bytes = 0;
    await assert.rejects(async () => {
      for await (const chunk of got.body ?? []) bytes += chunk.length;
    });
    assert.ok(bytes < LARGE, `${bytes} of ${LARGE} bytes were sent`);
    assert.match(house.logged(digestOf(content))[0]?.msg ?? "", /not what its digest says/);
    assert.equal((await house.ask("GET", blobPath("one", content), undefined, { range: "bytes=0-9" })).status, 404);
    assert.equal(await pushUnlessThere(house, "two", content), "pushed");
    for (const repo of ["one", "two"]) await isRight(house, repo, content);
  });

  test(`${name}: a small blob with wrong bytes is not served, nor any image that needs it taken, until it is pushed again`, async (t) => {
    const house = await open(t, url());
    const config = Buffer.from(JSON.stringify({ architecture: "amd64", os: "linux", note: "x".repeat(2000) }));
    const layer = randomBytes(LARGE);
    const descriptor = (content: Buffer, mediaType: string): object => ({
      mediaType,
      digest: digestOf(content),
      size: content.length,
    });
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: OCI_IMAGE,
        config: descriptor(config, "application/vnd.oci.image.config.v1+json"),
        layers: [descriptor(layer, "application/vnd.oci.image.layer.v1.tar")],
      }),
    );
    const put = (): Promise<Response> =>
      house.ask("PUT", "/v2/acme/one/manifests/latest", manifest, { "content-type": OCI_IMAGE });
    for (const content of [config, layer]) await push(house, "one", content);
    await house.content.change(digestOf(config), flipped);
    assert.equal((await house.ask("GET", blobPath("one", config))).status, 404);
    await house.content.change(digestOf(layer), () => undefined);
    await noticed(house, layer, name);
    const rejected = await put();
    assert.equal(rejected.status, 400);
    const { errors } = (await rejected.json()) as { errors: { code: string; detail: { digest: string }[] }[] };
    assert.equal(errors[0]?.code, "MANIFEST_BLOB_UNKNOWN");
    assert.deepEqual(
      errors[0]?.detail.map(({ digest }) => digest).toSorted(),
      [config, layer].map(digestOf).toSorted(),
    );
    for (const content of [config, layer]) assert.equal(await pushUnlessThere(house, "one", content), "pushed");
    assert.equal((await put()).status, 201);
    await isRight(house, "one", config);
  });

  test(`${name}: what is missing is not mounted, so that the client sends it`, async (t) => {
    const house = await open(t, url());
    const content = randomBytes(2000);
    await push(house, "one", content);
    await house.content.change(digestOf(content), () => undefined);
    await noticed(house, content, name);
    const mounted = await house.ask("POST", `/v2/acme/two/blobs/uploads/?mount=${digestOf(content)}&from=acme/one`);
    assert.equal(mounted.status, 202);
    const upload = mounted.headers.get("location") ?? "";
    assert.equal((await house.ask("PUT", `${upload}?digest=${digestOf(content)}`, content)).status, 201);
    for (const repo of ["one", "two"]) await isRight(house, repo, content);
  });

  test(`${name}: a file of a library that is missing is replaced when it comes again, also by a push of an image`, async (t) => {
    const house = await open(t, url());
    const jar = randomBytes(LARGE);
    const path = "/maven/acme/-/org/example/app/1.0/app-1.0.jar";
    const put = (): Promise<Response> => house.ask("PUT", path, jar);
    const isThere = async (): Promise<void> => {
      const got = await house.ask("GET", path);
      assert.equal(got.status, 200);
      assert.ok(Buffer.from(await got.arrayBuffer()).equals(jar));
    };
    assert.equal((await put()).status, 201);
    for (const again of [async () => assert.equal((await put()).status, 201), () => push(house, "one", jar)]) {
      await house.content.change(digestOf(jar), () => undefined);
      await again();
      await isThere();
      assert.equal(await house.content.copies(digestOf(jar)), 1);
    }
  });
}

async function counts(house: House): Promise<{ found: number; replaced: number }> {
  let found = 0;
  for (const fault of ["missing", "wrong_size", "damaged"])
    found += await house.metric(new RegExp(`^moorage_blobs_content_faults_total\\{fault="${fault}"\\} (\\d+)`, "m"));
  return { found, replaced: await house.metric(/^moorage_blobs_content_replaced_total (\d+)/m) };
}

/**
 * That something is in S3 is believed for a moment; a read finds out. What is too long is read nevertheless: only the
 * files are asked each time.
 */
async function noticed({ ask }: House, content: Buffer, name: string): Promise<void> {
  // Another URL, whose answer is in no cache.
  if (name === "S3") assert.equal((await ask("GET", `${blobPath("one", content)}?look=${randomUUID()}`)).status, 404);
}
