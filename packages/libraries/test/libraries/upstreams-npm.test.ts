// npm packages that come from an upstream: installed, kept, and served when the upstream is gone.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { npmPath, openNpm, publishNpm } from "../../../server/test/support/npm.ts";
import { type NpmRegistry, startNpmRegistry, tarballPath } from "../../../server/test/support/npm-registry.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const PUBLIC = { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" };
let platform: Platform;
let upstream: NpmRegistry;
let group = { uid: "", path: "" };
let count = 0;
before(async () => {
  platform = await startPlatform(PUBLIC);
});
after(() => platform.close());
beforeEach(async (t) => {
  upstream = await startNpmRegistry(t as Parameters<typeof startNpmRegistry>[0]);
  const name = `upstream-${(count += 1)}`;
  group = { uid: (await platform.group(platform.organization, { name })).uid, path: `acme/${name}` };
});

function setUpstream(fields: object = {}): Promise<{ uid: string }> {
  return platform.ok("POST", `/libraries/v2/upstreams/${group.uid}`, {
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    url: upstream.url,
    ...fields,
  });
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return await platform.call("GET", path, { token: await platform.token(), headers });
}

const packument = (name: string): Promise<Answer> => get(npmPath(group.path, name));
const tarball = (name: string, version: string): Promise<Answer> =>
  get(`/npm/${group.path}${tarballPath(name, version)}`);
const versionsOf = ({ body }: Answer): string[] => Object.keys(body["versions"] as object);

test("npm installs through the upstream, and from the lock file when the upstream is gone", async (t) => {
  await setUpstream();
  upstream.publish("left", "1.0.0", { files: { "index.js": "module.exports = 'left';" } });
  upstream.publish("@far/right", "2.1.0", {
    manifest: { dependencies: { left: "^1.0.0" } },
    files: { "index.js": "module.exports = require('left') + ' right';" },
  });
  upstream.publish("left", "1.1.0-beta.1");
  Object.assign(upstream.packages.get("left")?.["dist-tags"] ?? {}, { latest: "1.0.0" });
  const token = await platform.token();
  const registry = `${platform.url}/npm/${group.path}/`;
  const npm = openNpm(t, registry, (place) => `${place}:_authToken=${token}`);
  const app = npm.folderOf("app", { name: "app", version: "1.0.0", private: true });
  const ok = async (args: string[]): Promise<void> => {
    const { code, stdout, stderr } = await npm.run(args, { cwd: app });
    assert.equal(code, 0, `${args.join(" ")}\n${stdout}\n${stderr}`);
  };
  await ok(["install", "--no-audit", "@far/right"]);
  const lock = readFileSync(join(app, "package-lock.json"), "utf8");
  assert.ok(lock.includes(`${registry}left/-/left-1.0.0.tgz`), "files come from here");
  assert.ok(!lock.includes(upstream.url));
  assert.equal(readFileSync(join(app, "node_modules/left/index.js"), "utf8"), "module.exports = 'left';");

  await upstream.stop();
  const clean = (): void => {
    for (const folder of ["node_modules", "../cache"]) rmSync(join(app, folder), { recursive: true, force: true });
  };
  clean();
  await ok(["ci", "--no-audit"]);
  assert.equal(readFileSync(join(app, "package-lock.json"), "utf8"), lock);
  clean();
  rmSync(join(app, "package-lock.json"));
  writeFileSync(join(app, "package.json"), '{"name":"app","version":"1.0.0","private":true}');
  platform.clock.offsetMs += 3_600_000;
  t.after(() => (platform.clock.offsetMs -= 3_600_000));
  const later = await platform.token();
  writeFileSync(
    join(npm.folder, ".npmrc"),
    `registry=${registry}\n${registry.replace("http:", "")}:_authToken=${later}\nfund=false\n`,
  );
  await ok(["install", "--no-audit", "@far/right"]);
});

test("the packument is the upstream's with our URLs; what is asked once is not asked again for a while", async () => {
  await setUpstream();
  upstream.publish("left", "1.0.0", { time: "2020-01-02T03:04:05.000Z", manifest: { deprecated: "old" } });
  const { status, body, headers } = await packument("left");
  assert.equal(status, 200);
  const [version] = Object.values(body["versions"] as Record<string, Record<string, unknown>>);
  const dist = version?.["dist"] as Record<string, string>;
  assert.equal(dist["tarball"], `${platform.url}/npm/${group.path}/left/-/left-1.0.0.tgz`);
  assert.equal(version?.["deprecated"], "old");
  assert.equal((body["time"] as Record<string, string>)["1.0.0"], "2020-01-02T03:04:05.000Z");
  assert.ok(!JSON.stringify(body).includes("Long"), "readmes are not kept");
  assert.equal((await get(npmPath(group.path, "left"), { "if-none-match": headers.etag ?? "" })).status, 304);
  assert.equal(upstream.count("/left"), 1);

  platform.clock.offsetMs += 301_000;
  assert.equal((await packument("left")).status, 200);
  assert.deepEqual(
    upstream.asked.map(({ status: answered }) => answered),
    [200, 304],
    "after five minutes it is asked whether something has changed",
  );
  upstream.publish("left", "1.1.0");
  assert.deepEqual(versionsOf(await packument("left")), ["1.0.0"]);
  platform.clock.offsetMs += 301_000;
  assert.deepEqual(versionsOf(await packument("left")), ["1.0.0", "1.1.0"]);
  assert.equal((await get(`${npmPath(group.path, "left")}/latest`)).body["version"], "1.1.0");
  assert.equal((await get(`${npmPath(group.path, "left")}/1.0.0`)).body["version"], "1.0.0");
  assert.deepEqual((await get(`/npm/${group.path}/-/package/left/dist-tags`)).body, { latest: "1.1.0" });
  assert.equal((await packument("nothing")).status, 404);
  assert.equal((await packument("nothing")).status, 404);
  assert.equal(upstream.count("/nothing"), 1, "that there is nothing is known for a minute");
});

test("a cached answer lasts no longer than what the upstream said", async () => {
  await setUpstream();
  upstream.publish("cached", "1.0.0");
  await packument("cached");
  platform.clock.offsetMs += 290_000;
  const token = await platform.token();
  const shown = async (): Promise<string[]> =>
    versionsOf(await platform.call("GET", npmPath(group.path, "cached"), { token }));
  upstream.publish("cached", "1.1.0");
  for (let time = 0; time < 3; time += 1) assert.deepEqual(await shown(), ["1.0.0"]);
  platform.clock.offsetMs += 15_000;
  assert.deepEqual(await shown(), ["1.0.0", "1.1.0"]);
});

test("20 clients that want the same at first are served by one fetch of each", async () => {
  await setUpstream();
  const bytes = upstream.publish("left", "1.0.0");
  const packuments = await Promise.all(Array.from({ length: 20 }, () => packument("left")));
  assert.deepEqual(new Set(packuments.map(({ status }) => status)), new Set([200]));
  const token = await platform.token();
  const tarballs = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const answer = await fetch(`${platform.url}/npm/${group.path}/left/-/left-1.0.0.tgz`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return [answer.status, Buffer.from(await answer.arrayBuffer()).equals(bytes)];
    }),
  );
  assert.deepEqual(
    tarballs,
    Array.from({ length: 20 }, () => [200, true]),
  );
  assert.deepEqual([upstream.count("/left"), upstream.count(tarballPath("left", "1.0.0"))], [1, 1]);
  const { artifacts } = await platform.ok<{
    artifacts: { name: string; latestVersion: string; versionCount: number }[];
  }>("GET", `/libraries/v2/artifacts?uidp.childrenOf=${group.uid}&ecosystems=ECOSYSTEM_JAVASCRIPT`);
  assert.deepEqual(
    artifacts.map(({ name, latestVersion, versionCount }) => [name, latestVersion, versionCount]),
    [["left", "1.0.0", 1]],
  );
});

test("a name that the group has published is never asked for, also after all its versions are gone", async () => {
  await setUpstream({ reservedNames: ["@acme/*", "secret-*"], mergedNames: ["patched"] });
  for (const name of ["ours", "patched", "@acme/hidden", "secret-tool"]) upstream.publish(name, "9.9.9");
  assert.equal((await publishNpm(platform, group.path, "ours", "1.0.0")).status, 201);
  assert.deepEqual(versionsOf(await packument("ours")), ["1.0.0"]);
  assert.equal((await tarball("ours", "9.9.9")).status, 404);
  const rev = String((await packument("ours")).body["_rev"]);
  assert.equal(
    (await platform.call("DELETE", `${npmPath(group.path, "ours")}/-rev/${rev}`, { token: await platform.token() }))
      .status,
    200,
  );
  assert.equal((await packument("ours")).status, 404);
  assert.equal((await tarball("ours", "9.9.9")).status, 404);
  for (const name of ["@acme/hidden", "@ACME/hidden", "secret-tool", "Secret-tool", "OURS"])
    assert.equal((await packument(name)).status, 404, name);
  assert.deepEqual(upstream.asked, [], "nobody was asked");

  await publishNpm(platform, group.path, "patched", "1.0.1");
  assert.deepEqual(versionsOf(await packument("patched")), ["1.0.1", "9.9.9"], "unless the group wants both");
  assert.equal((await tarball("patched", "9.9.9")).status, 200);
});

test("a name that the group publishes while a file of it is on its way from the upstream is the group's", async () => {
  await setUpstream();
  const bytes = upstream.publish("left", "9.9.9");
  const path = tarballPath("left", "9.9.9");
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  upstream.answers.set(path, (_, res) => {
    isAsked();
    void mayEnd.then(() => res.end(bytes));
  });
  const late = tarball("left", "9.9.9");
  await asked;
  assert.equal((await publishNpm(platform, group.path, "left", "1.0.0")).status, 201);
  end();
  const { status, text } = await late;
  assert.equal(status, 404, text);
  assert.match(text, /the name is the group's own/);
  assert.deepEqual(versionsOf(await packument("left")), ["1.0.0"]);
});

test("what is on its way from an upstream that is deleted meanwhile, with its group, is not kept", async () => {
  const { uid } = await setUpstream();
  const bytes = upstream.publish("late", "1.0.0");
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  upstream.answers.set(tarballPath("late", "1.0.0"), (_, res) => {
    isAsked();
    void mayEnd.then(() => res.end(bytes));
  });
  const late = tarball("late", "1.0.0");
  await asked;
  await platform.ok("DELETE", `/libraries/v2/upstreams/${uid}`);
  await platform.ok("DELETE", `/iam/v2/groups/${group.uid}`);
  end();
  const { status, text } = await late;
  assert.equal(status, 404, text);
  const kept = await platform.reader.selectFrom("artifacts").select("name").where("parent", "=", group.uid).execute();
  assert.deepEqual(kept, []);
});

test("a name that is reserved while a file of it is on its way from the upstream is the group's", async () => {
  const { uid } = await setUpstream();
  const bytes = upstream.publish("@own/late", "1.0.0");
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  upstream.answers.set(tarballPath("@own/late", "1.0.0"), (_, res) => {
    isAsked();
    void mayEnd.then(() => res.end(bytes));
  });
  const late = tarball("@own/late", "1.0.0");
  await asked;
  await platform.ok("PATCH", `/libraries/v2/upstreams/${uid}`, { reservedNames: ["@own/*"] });
  end();
  assert.equal((await late).status, 404);
  assert.equal((await packument("@own/late")).status, 404);
});

test("a version of the group counts before one of the upstream, and one it removed is nobody's", async () => {
  await setUpstream({ mergedNames: ["patched"] });
  upstream.publish("patched", "1.0.0", { manifest: { description: "theirs" } });
  upstream.publish("patched", "1.0.1");
  await publishNpm(platform, group.path, "patched", "1.0.0", { manifest: { description: "ours" } });
  await publishNpm(platform, group.path, "patched", "1.0.2");
  const { body } = await packument("patched");
  const versions = body["versions"] as Record<string, { description: string }>;
  assert.deepEqual(Object.keys(versions), ["1.0.0", "1.0.1", "1.0.2"]);
  assert.equal(versions["1.0.0"]?.description, "ours");
  const { "1.0.0": _, ...rest } = versions;
  const removed = { ...body, versions: rest };
  const path = `${npmPath(group.path, "patched")}/-rev/${String(body["_rev"])}`;
  const answer = await platform.call("PUT", path, { token: await platform.token(), body: removed });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(versionsOf(await packument("patched")), ["1.0.1", "1.0.2"]);
  assert.equal((await tarball("patched", "1.0.0")).status, 404);
  assert.equal((await get(`${npmPath(group.path, "patched")}/1.0.0`)).status, 404);
});

test("a version that the group removes with its package is in no packument that was in memory before", async () => {
  await setUpstream({ mergedNames: ["patched"] });
  upstream.publish("patched", "1.0.0");
  upstream.publish("patched", "2.0.0");
  upstream.publish("patched", "3.0.0");
  assert.deepEqual(versionsOf(await packument("patched")), ["1.0.0", "2.0.0", "3.0.0"]);
  for (const [version, left] of [
    ["1.0.0", ["2.0.0", "3.0.0"]],
    ["2.0.0", ["3.0.0"]],
  ] as const) {
    await publishNpm(platform, group.path, "patched", version);
    const rev = String((await packument("patched")).body["_rev"]);
    const path = `${npmPath(group.path, "patched")}/-rev/${rev}`;
    assert.equal((await platform.call("DELETE", path, { token: await platform.token() })).status, 200);
    assert.deepEqual(versionsOf(await packument("patched")), left);
    assert.equal((await tarball("patched", version)).status, 404);
  }
});

test("disabled and deleted upstreams are not asked; what came from them stays", async () => {
  const { uid } = await setUpstream();
  const bytes = upstream.publish("left", "1.0.0");
  upstream.publish("left", "1.1.0");
  assert.equal((await tarball("left", "1.0.0")).status, 200);
  await platform.ok("PATCH", `/libraries/v2/upstreams/${uid}`, { disabled: true });
  const asked = upstream.asked.length;
  const kept = async (): Promise<void> => {
    assert.deepEqual(versionsOf(await packument("left")), ["1.0.0"], "what is here");
    assert.equal((await tarball("left", "1.0.0")).status, 200);
    assert.equal((await tarball("left", "1.1.0")).status, 404);
    assert.equal(((await packument("left")).body["dist-tags"] as Record<string, string>)["latest"], "1.0.0");
    assert.equal(upstream.asked.length, asked);
  };
  await kept();
  await platform.ok("DELETE", `/libraries/v2/upstreams/${uid}`);
  await kept();
  const { storage } = await platform.ok<{ storage: Record<string, string>[] }>(
    "GET",
    `/registry/v2/storage?uidp.descendantsOf=${group.uid}`,
  );
  const { libraries, libraryBytes } = storage.find(({ groupUid }) => groupUid === group.uid) ?? {};
  assert.deepEqual([libraries, libraryBytes], ["1", String(bytes.length)], "its size is counted");
});

test("a version that the upstream changes or takes back stays as it came", async () => {
  await setUpstream();
  const bytes = upstream.publish("left", "1.0.0");
  assert.equal((await tarball("left", "1.0.0")).status, 200);
  upstream.publish("left", "1.0.0", { files: { "index.js": "evil();" }, manifest: { deprecated: "moved" } });
  platform.clock.offsetMs += 301_000;
  const { body } = await packument("left");
  const version = (body["versions"] as Record<string, { dist: Record<string, string>; deprecated: string }>)["1.0.0"];
  assert.equal(version?.dist["integrity"], `sha512-${createHash("sha512").update(bytes).digest("base64")}`);
  assert.equal(version?.deprecated, "moved", "that it is deprecated is no change of the version");
  const metrics = await platform.call("GET", "/metrics", { token: await platform.token() });
  assert.match(metrics.text, /moorage_library_upstream_changed_total\{ecosystem="npm"\} [1-9]/);
  upstream.packages.delete("left");
  platform.clock.offsetMs += 301_000;
  assert.deepEqual(versionsOf(await packument("left")), ["1.0.0"]);
  assert.equal((await tarball("left", "1.0.0")).status, 200);
});

test("what is removed of an upstream's package comes again, and its tags stay the upstream's", async () => {
  await setUpstream();
  for (const version of ["1.0.0", "1.1.0"]) upstream.publish("left", version);
  for (const version of ["1.0.0", "1.1.0"]) assert.equal((await tarball("left", version)).status, 200);
  const { body } = await packument("left");
  const { "1.0.0": _, ...rest } = body["versions"] as Record<string, object>;
  const path = `${npmPath(group.path, "left")}/-rev/${String(body["_rev"])}`;
  const token = await platform.token();
  assert.equal((await platform.call("PUT", path, { token, body: { ...body, versions: rest } })).status, 200);
  assert.equal((await tarball("left", "1.0.0")).status, 200);
  assert.equal(upstream.count(tarballPath("left", "1.0.0")), 2);
  upstream.publish("left", "2.0.0");
  platform.clock.offsetMs += 301_000;
  assert.deepEqual((await packument("left")).body["dist-tags"], { latest: "2.0.0" });
  for (const version of ["1.0.0", "1.1.0", "2.0.0"]) delete upstream.packages.get("left")?.versions[version];
  platform.clock.offsetMs += 301_000;
  assert.deepEqual(versionsOf(await packument("left")), ["1.0.0", "1.1.0"]);
});

test("attestations and keys of the upstream are kept and served", async () => {
  await setUpstream();
  const attestation = { predicateType: "https://slsa.dev/provenance/v1", bundle: { mediaType: "x" } };
  const path = "/-/npm/v1/attestations/@far%2fsigned@1.0.0";
  const provenance = { provenance: { predicateType: attestation.predicateType } };
  const dist = {
    attestations: { url: `${upstream.url}${path}`, ...provenance },
    signatures: [{ keyid: "k", sig: "s" }],
  };
  upstream.publish("@far/signed", "1.0.0", { dist });
  upstream.answers.set(path, (_, res) => res.end(JSON.stringify({ attestations: [attestation] })));
  const keys = { keys: [{ keyid: "k", key: "MFk" }] };
  upstream.answers.set("/-/npm/v1/keys", (_, res) => res.end(JSON.stringify(keys)));
  const shown = async (): Promise<{ dist: Record<string, unknown> } | undefined> =>
    ((await packument("@far/signed")).body["versions"] as Record<string, { dist: Record<string, unknown> }>)["1.0.0"];
  const url = `${platform.url}/npm/${group.path}${path}`;
  assert.deepEqual((await shown())?.dist["attestations"], { url, ...provenance });
  const ofUpstream = await get(`/npm/${group.path}${path}`);
  assert.deepEqual(ofUpstream.body["attestations"], [attestation]);
  assert.equal((await tarball("@far/signed", "1.0.0")).status, 200);
  assert.deepEqual((await get(`/npm/${group.path}/-/npm/v1/keys`)).body, keys);
  await upstream.stop();
  platform.clock.offsetMs += 48 * 3_600_000;
  assert.deepEqual((await shown())?.dist["attestations"], { url, ...provenance });
  assert.deepEqual((await shown())?.dist["signatures"], [{ keyid: "k", sig: "s" }]);
  assert.deepEqual((await get(`/npm/${group.path}${path}`)).body["attestations"], [attestation]);
  assert.deepEqual((await get(`/npm/${group.path}/-/npm/v1/keys`)).body, keys);
});
