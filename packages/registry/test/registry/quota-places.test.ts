// A quota holds for everything that brings content into a group: libraries, mirrors and what the server itself removes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../../server/src/index.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { foundBy } from "../../../server/test/support/fsck.ts";
import { startCollecting } from "../../../server/test/support/garbage-collection.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { putMaven } from "../../../server/test/support/maven.ts";
import { publishNpm, tarballOf } from "../../../server/test/support/npm.ts";
import { type Json, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { uploadPypi, wheelOf } from "../../../server/test/support/pypi.ts";

interface Quota extends Json {
  state: string;
  used: { bytes?: string; libraries: string };
}

const quotaOf = (platform: Platform, group: string): Promise<Quota> =>
  platform.ok<Quota>("GET", `/registry/v2/quotas/${group}`);
const usedOf = async (platform: Platform, group: string): Promise<number> =>
  Number((await quotaOf(platform, group)).used.bytes);

/** Sets a quota, and waits until it is counted. */
async function limit(platform: Platform, group: string, limits: object): Promise<void> {
  await platform.ok("POST", `/registry/v2/quotas/${group}`, limits);
  await eventually(async () => (await quotaOf(platform, group)).state !== "QUOTA_STATE_COUNTING");
}

test("libraries of every ecosystem count, and are refused with the quota's words", { timeout: 300_000 }, async (t) => {
  const platform = await startPlatform();
  t.after(() => platform.close());
  const { uid: team } = await platform.group(platform.organization, { name: "team" });
  const tarball = tarballOf({ name: "before", version: "1.0.0" });
  assert.equal((await publishNpm(platform, "acme/team", "before", "1.0.0", { tarball })).status, 201);
  await limit(platform, team, { bytes: "40000", libraries: "3" });
  assert.equal(await usedOf(platform, team), tarball.length, "what was there is counted");

  const jar = Buffer.alloc(12_345, "j");
  assert.equal((await putMaven(platform, "acme/team", "o/sized/1/sized-1.jar", jar)).status, 201);
  // The same content as another file costs nothing.
  assert.equal((await putMaven(platform, "acme/team", "o/sized/1/sized-1-sources.jar", jar)).status, 201);
  const wheel = wheelOf({ name: "sized-py", version: "1.0" });
  assert.equal((await uploadPypi(platform, "acme/team", { ...wheel, name: "sized-py", version: "1.0" })).status, 200);
  const used = tarball.length + jar.length + wheel.bytes.length + wheel.metadata.length;
  assert.equal(await usedOf(platform, team), used);

  const large = await putMaven(platform, "acme/team", "o/sized/2/sized-2.jar", Buffer.alloc(38_000, "l"));
  assert.equal(large.status, 403);
  assert.match(large.text, /quota of acme\/team: 39\.1 KiB, used [\d.]+, needs 37\.2 more/);
  const fourth = await publishNpm(platform, "acme/team", "fourth", "1.0.0");
  assert.equal(fourth.status, 403);
  assert.match(fourth.text, /quota of acme\/team: 3 libraries, used 3, needs 1 more/);
  assert.equal(await usedOf(platform, team), used);

  const ALL = "ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON&ecosystems=ECOSYSTEM_JAVASCRIPT";
  const artifacts = await rows(platform.ok("GET", `/libraries/v2/artifacts?${ALL}`), "artifacts");
  for (const { uid } of artifacts) await platform.ok("DELETE", `/libraries/v2/artifacts/${uid}`);
  assert.equal(await usedOf(platform, team), 0);
  assert.equal((await quotaOf(platform, team)).used.libraries, "0");
  assert.deepEqual(await foundBy(loadConfig(platform.settings), { repair: false }), []);
});

test("a turn of a mirror that meets a quota fails with its words", { timeout: 300_000 }, async (t) => {
  const platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0" });
  t.after(() => platform.close());
  await pushImage(platform, "acme/source", "v1");
  const { uid: team } = await platform.group(platform.organization, { name: "team" });
  await limit(platform, team, { bytes: "50" });
  const { uid } = await platform.repo(team, { name: "copy", syncConfig: { source: "acme/source" } });
  const sync = (): Promise<{ state: string; message: string }> => platform.ok("GET", `/registry/v2/repos/${uid}/sync`);
  const failed = await eventually(async () => {
    const now = await sync();
    return now.state === "SYNC_STATE_FAILED" && now;
  });
  assert.match(failed.message, /^quota of acme\/team: 50 bytes, used \d+, needs \d+ more$/);
  assert.ok((await usedOf(platform, team)) <= 50);
  await platform.ok("PATCH", `/registry/v2/quotas/${team}`, { bytes: "50000" });
  await platform.ok("POST", `/registry/v2/repos/${uid}:sync`, {});
  await eventually(async () => (await sync()).state === "SYNC_STATE_SUCCEEDED");
  assert.deepEqual(await foundBy(loadConfig(platform.settings), { repair: false }), []);
});

test("what is collected counts no longer", { timeout: 300_000 }, async (t) => {
  const { db, push, pass, collect } = await startCollecting(t);
  const { uid } = await db.selectFrom("groups").select("uid").where("name", "=", "acme").executeTakeFirstOrThrow();
  const limits = { bytes: 1_000_000, repos: null, tags: null, libraries: null, soft_percent: 80 };
  await db
    .insertInto("quotas")
    .values({ ...limits, uid, parent: "", used_bytes: 0, counted_to: "9", state: 2, create_time: 1, update_time: 1 })
    .execute();
  const used = async (): Promise<number> => {
    const quota = await db.selectFrom("quotas").select("used_bytes").executeTakeFirstOrThrow();
    const references = await db.selectFrom("quota_refs").select("size").execute();
    const sum = references.reduce((total, { size }) => total + Number(size), 0);
    assert.equal(Number(quota.used_bytes), sum);
    return sum;
  };
  await push("acme/app", "v1", "kept");
  const kept = await used();
  await push("acme/app", undefined, "nobody needs it");
  assert.ok((await used()) > kept);
  pass(10);
  assert.equal((await collect()).manifests, 1);
  assert.equal(await used(), kept);
});
