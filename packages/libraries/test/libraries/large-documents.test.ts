// Documents that are too large for the thread that serves: clients see no difference, and each is read once.
import assert from "node:assert/strict";
import { request } from "node:http";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { INLINE_BYTES } from "../../src/libraries/reading/limits.ts";
import { npmPath, publishNpm } from "../../../server/test/support/npm.ts";
import { type NpmRegistry, startNpmRegistry, tarballPath } from "../../../server/test/support/npm-registry.ts";
import { newPolicy } from "../../../server/test/support/policies.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

let platform: Platform;
let upstream: NpmRegistry;
let group = { uid: "", path: "" };
let count = 0;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
});
after(() => platform.close());
beforeEach(async (t) => {
  upstream = await startNpmRegistry(t as Parameters<typeof startNpmRegistry>[0]);
  const name = `large-${(count += 1)}`;
  group = { uid: (await platform.group(platform.organization, { name })).uid, path: `acme/${name}` };
  await platform.ok("POST", `/libraries/v2/upstreams/${group.uid}`, {
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    url: upstream.url,
  });
});

const OLD = "2020-01-01T00:00:00.000Z";
const get = async (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  await platform.call("GET", path, { token: await platform.token(), headers });
const packument = (name: string, headers?: Record<string, string>): Promise<Answer> =>
  get(`/npm/${group.path}/${name}`, headers);

/** Publishes versions at the upstream whose manifests have so many characters more. */
function publishAll(name: string, versions: readonly string[], chars: number, time = OLD): void {
  for (const version of versions) upstream.publish(name, version, { time, manifest: { extra: "x".repeat(chars) } });
}

test("a large package is what a small one is: packument, tags, versions, tarballs", async () => {
  const versions = ["1.0.0", "1.1.0", "1.10.0", "1.2.0", "2.0.0-rc.1"];
  publishAll("small", versions, 10);
  publishAll("large", versions, INLINE_BYTES);
  for (const name of ["small", "large"])
    Object.assign(upstream.packages.get(name)?.["dist-tags"] ?? {}, { latest: "1.10.0", next: "2.0.0-rc.1" });
  const plain = ({ text }: Answer): unknown =>
    JSON.parse(text.replaceAll("large", "small"), (key, value: unknown) =>
      ["extra", "integrity", "shasum", "modified"].includes(key) ? undefined : value,
    );
  for (const path of ["", "/latest", "/next", "/1.2.0", "/9.9.9"]) {
    const [small, large] = [await packument(`small${path}`), await packument(`large${path}`)];
    assert.equal(small.status, path === "/9.9.9" ? 404 : 200);
    assert.deepEqual([large.status, plain(large)], [small.status, plain(small)], path);
  }
  const abbreviated = { accept: "application/vnd.npm.install-v1+json" };
  assert.deepEqual(plain(await packument("large", abbreviated)), plain(await packument("small", abbreviated)));
  const tags = (name: string): Promise<Answer> => get(`/npm/${group.path}/-/package/${name}/dist-tags`);
  assert.deepEqual((await tags("large")).body, (await tags("small")).body);
  const file = await get(`/npm/${group.path}${tarballPath("large", "1.1.0")}`);
  assert.equal(file.status, 200);
  assert.deepEqual(plain(await packument("large/1.1.0")), plain(await packument("small/1.1.0")));
  assert.equal(upstream.count("/large"), 1);
});

/** The body as it was sent, and its ETag. */
function compressed(url: string, headers: Record<string, string>): Promise<[Buffer, string | undefined]> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { ...headers, "accept-encoding": "gzip" } }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("end", () => resolve([Buffer.concat(chunks), res.headers.etag]));
    })
      .on("error", reject)
      .end();
  });
}

test("a large packument is the same compressed and not, and has one ETag", async () => {
  publishAll("both", ["1.0.0", "1.1.0"], 4 * INLINE_BYTES);
  const headers = { authorization: `Bearer ${await platform.token()}` };
  const url = `${platform.url}${npmPath(group.path, "both")}`;
  const identity = await fetch(url, { headers: { ...headers, "accept-encoding": "identity" } });
  const text = Buffer.from(await identity.arrayBuffer());
  assert.equal(Number(identity.headers.get("content-length")), text.length);
  const [body, etag] = await compressed(url, headers);
  assert.deepEqual(gunzipSync(body), text);
  assert.equal(identity.headers.get("etag"), etag);
  const known = await packument("both", { "if-none-match": etag ?? "" });
  assert.deepEqual([known.status, known.text], [304, ""]);
});

test("sixteen clients of a large package share one request to the upstream, and one that changes is read again", async () => {
  publishAll("shared", ["1.0.0", "1.1.0"], 2 * INLINE_BYTES);
  const all = await Promise.all(Array.from({ length: 16 }, () => packument("shared")));
  assert.deepEqual(new Set(all.map(({ status, headers }) => `${status} ${headers.etag}`)).size, 1);
  assert.equal(upstream.count("/shared"), 1);
  publishAll("shared", ["1.2.0"], 2 * INLINE_BYTES);
  platform.clock.offsetMs += 600_000;
  try {
    assert.deepEqual(Object.keys((await packument("shared")).body["versions"] as object), ["1.0.0", "1.1.0", "1.2.0"]);
    assert.equal((await packument("shared/1.2.0")).status, 200);
    // It comes to be small, and is not divided any longer.
    upstream.packages.delete("shared");
    publishAll("shared", ["1.3.0"], 10);
    platform.clock.offsetMs += 600_000;
    assert.deepEqual(Object.keys((await packument("shared")).body["versions"] as object), ["1.3.0"]);
    assert.equal((await packument("shared/1.2.0")).status, 404);
  } finally {
    platform.clock.offsetMs = 0;
  }
});

test("a policy hides versions of a large package as of a small one", async () => {
  await newPolicy(platform, group.uid, { cooldown: "604800s", deniedLicenses: ["AGPL-*"] });
  publishAll("young", ["1.0.0", "1.1.0"], INLINE_BYTES);
  publishAll("young", ["1.2.0"], INLINE_BYTES, new Date().toISOString());
  const { body } = await packument("young");
  assert.deepEqual(Object.keys(body["versions"] as object), ["1.0.0", "1.1.0"]);
  assert.deepEqual(body["dist-tags"], { latest: "1.1.0" });
  assert.equal((await packument("young/1.2.0")).status, 403);
  assert.equal((await get(`/npm/${group.path}${tarballPath("young", "1.2.0")}`)).status, 403);
  assert.equal((await packument("young/latest")).body["version"], "1.1.0");
  publishAll("all-young", ["1.0.0"], 2 * INLINE_BYTES, new Date().toISOString());
  const all = await packument("all-young");
  assert.equal(all.status, 409);
  assert.match(String(all.body["error"]), /every version of all-young is blocked: 1\.0\.0 is too young/);
});

test("a large one that was kept whole, as all were once, is divided when it is asked for", async () => {
  publishAll("whole", ["1.0.0", "1.1.0"], 2 * INLINE_BYTES);
  const before = await packument("whole");
  const name = "whole";
  const [row] = await platform.reader
    .selectFrom("upstream_documents")
    .selectAll()
    .where("name", "like", "whole%divided")
    .execute();
  assert.ok(row !== undefined);
  const versions = Object.fromEntries(
    Object.entries(upstream.packages.get(name)?.versions ?? {}).map(([version, manifest]) => [
      version,
      { manifest, publishMs: Date.parse(OLD) },
    ]),
  );
  const text = JSON.stringify({ tags: { latest: "1.1.0" }, versions });
  await platform.transact(async (tx) => {
    await tx.deleteFrom("upstream_documents").where("name", "like", "whole%").execute();
    await tx
      .insertInto("upstream_documents")
      .values({ ...row, name: "whole", size: text.length, revision: "of-another-server", content: gzipSync(text) })
      .execute();
  });
  platform.clock.offsetMs += 600_000;
  await upstream.stop();
  try {
    const again = await packument("whole");
    assert.deepEqual([again.status, again.body["versions"]], [200, before.body["versions"]]);
    const rows = await platform.reader
      .selectFrom("upstream_documents")
      .select("name")
      .where("name", "like", "whole%")
      .execute();
    assert.ok(rows.length > 2 && !rows.some(({ name: each }) => each === "whole"), JSON.stringify(rows));
  } finally {
    platform.clock.offsetMs = 0;
  }
});

test("a manifest that is larger than any is not listed, and its number says why", async () => {
  publishAll("heavy", ["1.0.0"], 10);
  upstream.publish("heavy", "1.1.0", { manifest: { extra: "x".repeat(1024 * 1024) }, time: OLD });
  upstream.publish("heavy", "1.2.0", { manifest: { extra: Array.from({ length: 20_001 }, () => []) }, time: OLD });
  assert.deepEqual(Object.keys((await packument("heavy")).body["versions"] as object), ["1.0.0"]);
  const { status, body } = await packument("heavy/1.1.0");
  assert.equal(status, 502);
  assert.match(String(body["error"]), /its manifest of heavy@1\.1\.0 is too large/);
  assert.equal((await get(`/npm/${group.path}${tarballPath("heavy", "1.2.0")}`)).status, 502);
});

test("a publish with more values than any document has is rejected while it arrives", async () => {
  const name = "values";
  const head = `{"name":"${name}","versions":{"1.0.0":{"name":"${name}","version":"1.0.0","list":[`;
  const answer = await platform.call("PUT", npmPath("acme", name), {
    token: await platform.token(),
    raw: `${head}${"[],".repeat(2_100_000)}[]]}}}`,
  });
  assert.equal(answer.status, 413);
  assert.match(String(answer.body["error"]), /more than 4000000 values/);
});

test("a file that is damaged in the store is not sent, and not remembered", async () => {
  await publishNpm(platform, "acme", "damaged", "1.0.0");
  const path = `/npm/acme${tarballPath("damaged", "1.0.0")}`;
  const [file] = await platform.reader
    .selectFrom("artifact_files")
    .selectAll()
    .where("name", "=", "damaged-1.0.0.tgz")
    .execute();
  const hex = String(file?.digest).slice("sha256:".length);
  const folder = join(String(platform.settings["MOORAGE_DATA_DIR"]), "blobs");
  const place = readdirSync(folder, { recursive: true, withFileTypes: true }).find(
    (entry) => entry.isFile() && join(entry.parentPath, entry.name).replaceAll("/", "").includes(hex),
  );
  assert.ok(place !== undefined);
  const stored = join(place.parentPath, place.name);
  const good = readFileSync(stored);
  const bad = Buffer.from(good);
  bad[bad.length - 1] = (bad.at(-1) ?? 0) ^ 1;
  writeFileSync(stored, bad);
  const { status, text } = await get(path);
  assert.equal(status, 500);
  assert.match(text, new RegExp(`the stored content of sha256:${hex} is not what its digest says`));
  writeFileSync(stored, good);
  assert.equal((await get(path)).status, 200);
});
