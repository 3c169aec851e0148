// What of a quota's bytes is only history or a cache, and what open uploads hold, against a count from scratch.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { clockOf } from "../../../kernel/src/lib/clock.ts";
import { measureQuotas } from "../../src/registry/quotas/measure.ts";
import { type Dice, diceOf } from "../../../server/test/support/dice.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { sized } from "../../../server/test/support/extent.ts";
import { startCollecting } from "../../../server/test/support/garbage-collection.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { publishNpm, tarballOf } from "../../../server/test/support/npm.ts";
import { type Json, startPlatform } from "../../../server/test/support/platform.ts";
import { digestOf } from "../../../server/test/support/registry-server.ts";

const HOUR_MS = 3_600_000;
const REPOS = ["acme/team/one", "acme/team/two", "acme/cache/library/three"];
const TAGS = ["a", "b", "c"];
// The clock goes on by minutes, and tokens last for an hour.
const STEPS = sized(60, 120);

type Collecting = Awaited<ReturnType<typeof startCollecting>>;

/** A registry whose organization has a quota, and what measures it. */
async function world(t: TestContext) {
  const registry = await startCollecting(t);
  const { acme, db, deps, clock, ask, ownerToken: token } = registry;
  const limits = { bytes: 1_000_000_000, repos: null, tags: null, libraries: null, soft_percent: 80 };
  await db
    .insertInto("quotas")
    .values({
      ...limits,
      uid: acme,
      parent: "",
      used_bytes: 0,
      counted_to: "9",
      state: 2,
      create_time: 1,
      update_time: 1,
    })
    .execute();
  let hours = 0;
  const warned: unknown[] = [];
  return {
    ...registry,
    token,
    warned,
    /** What is measured an hour after the last time; null for what is more than the limits let be measured. */
    async measured(limits: Parameters<typeof measureQuotas>[0]["limits"] = {}) {
      hours += 1;
      const at = clockOf(() => clock.nowMs() + hours * HOUR_MS);
      const log = { warn: (...said: unknown[]) => void warned.push(said) };
      const { quotas } = await measureQuotas(
        {
          writer: deps.transactor,
          reader: db,
          blobs: deps.blobs,
          clock: at,
          log: log as never,
          limits,
        },
        new AbortController().signal,
      );
      assert.equal(quotas, 1);
      const row = await db.selectFrom("quota_shares").selectAll().where("quota", "=", acme).executeTakeFirstOrThrow();
      const bytes = (value: unknown): number | null => (value === null ? null : Number(value));
      return {
        history: bytes(row.history_bytes),
        pending: bytes(row.pending_bytes),
        cached: bytes(row.cached_bytes),
      };
    },
    /** Begins an upload of so many bytes. */
    async open(name: string, bytes: number): Promise<string> {
      const begun = await ask(`/v2/${name}/blobs/uploads/`, { method: "POST", token });
      assert.equal(begun.status, 202, begun.text);
      const location = begun.headers.get("location") ?? "";
      const sent = await ask(location, {
        method: "PATCH",
        token,
        headers: { "content-type": "application/octet-stream" },
        body: Buffer.alloc(bytes, "p"),
      });
      assert.equal(sent.status, 202, sent.text);
      return sent.headers.get("location") ?? location;
    },
  };
}

/** The same from the rows alone: every manifest is followed down from every tag, and from all that tags ever had. */
async function fromScratch(db: Collecting["db"], caches: ReadonlySet<string>): Promise<Record<string, number>> {
  const names = await db.selectFrom("repos").select(["uid", "name"]).execute();
  const manifests = await db.selectFrom("manifests").select(["repo", "digest", "subject", "size"]).execute();
  const references = await db.selectFrom("manifest_references").select(["repo", "digest", "target"]).execute();
  const links = await db.selectFrom("repo_blobs").select(["repo", "digest"]).execute();
  const blobs = new Map(
    (await db.selectFrom("blobs").select(["digest", "size"]).execute()).map(({ digest, size }) => [
      digest,
      Number(size),
    ]),
  );
  const tags = await db.selectFrom("tags").select(["parent as repo", "digest"]).execute();
  const moves = await db.selectFrom("tag_history").select(["repo", "digest"]).execute();
  const below = (start: { repo: string; digest: string }[]): Set<string> => {
    const held = new Set(start.map(({ repo, digest }) => `${repo} ${digest}`));
    for (let before = -1; before !== held.size;) {
      before = held.size;
      for (const { repo, digest, target } of references)
        if (held.has(`${repo} ${digest}`)) held.add(`${repo} ${target}`);
      for (const { repo, digest, subject } of manifests)
        if (held.has(`${repo} ${subject}`)) held.add(`${repo} ${digest}`);
    }
    return held;
  };
  const [tagged, past] = [below(tags), below(moves)];
  const places = [
    ...manifests.map(({ repo, digest, size }) => ({ repo, digest, size: Number(size) })),
    ...links.map(({ repo, digest }) => ({ repo, digest, size: blobs.get(digest) ?? 0 })),
  ];
  const isCache = new Map(names.map(({ uid, name }) => [uid, caches.has(name)]));
  const sum = { used: 0, history: 0, cached: 0 };
  for (const [, all] of Map.groupBy(places, ({ digest }) => digest)) {
    const size = all[0]?.size ?? 0;
    const isIn = (set: ReadonlySet<string>): boolean => all.some(({ repo, digest }) => set.has(`${repo} ${digest}`));
    sum.used += size;
    if (isIn(past) && !isIn(tagged)) sum.history += size;
    if (all.every(({ repo }) => isCache.get(repo) === true)) sum.cached += size;
  }
  return sum;
}

/** One of the things that happen to a registry. */
async function something(
  dice: Dice,
  step: number,
  { push, pushIndex, pushBlob, pushManifest, ask, token, db, open, pass, collect }: Awaited<ReturnType<typeof world>>,
  uploads: Map<string, number>,
): Promise<void> {
  const [name, tag] = [dice.pick(REPOS), dice.pick(TAGS)];
  const content = `content ${dice.below(8)}`.padEnd(20 + dice.below(300), "x");
  const short = name.slice(name.lastIndexOf("/") + 1);
  const known = await db
    .selectFrom("manifests")
    .innerJoin("repos", "repos.uid", "manifests.repo")
    .select("digest")
    .where("repos.name", "=", short)
    .where("media_type", "like", "%manifest%")
    .limit(2)
    .execute();
  switch (dice.below(9)) {
    case 0:
      if (known.length > 0)
        await pushIndex(
          name,
          tag,
          known.map(({ digest }) => digest),
        );
      return;
    case 1: {
      // A referrer of what is there, which no tag names.
      const [subject] = known;
      if (subject === undefined) return;
      const config = await pushBlob(name, "{}");
      const blob = await pushBlob(name, `report ${step}`);
      const manifest = {
        schemaVersion: 2,
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        artifactType: "application/vnd.example.report",
        config: { mediaType: "application/vnd.oci.empty.v1+json", digest: config, size: 2 },
        layers: [{ mediaType: "text/plain", digest: blob, size: `report ${step}`.length }],
        subject: { mediaType: "application/vnd.oci.image.manifest.v1+json", digest: subject.digest, size: 1 },
      };
      const answer = await pushManifest(name, digestOf(JSON.stringify(manifest)), manifest);
      assert.equal(answer.status, 201, answer.text);
      return;
    }
    case 2:
      await pushBlob(name, `alone ${content}`);
      return;
    case 3:
      await ask(`/v2/${name}/manifests/${tag}`, { method: "DELETE", token });
      return;
    case 4: {
      const bytes = 1 + dice.below(5_000);
      uploads.set(await open(name, bytes), bytes);
      return;
    }
    case 5: {
      const [location] = uploads.keys();
      if (location === undefined) return;
      assert.equal((await ask(location, { method: "DELETE", token })).status, 204);
      uploads.delete(location);
      return;
    }
    case 6:
      if (!dice.chance(0.3)) return;
      pass(10);
      await collect();
      return;
    default:
      await push(name, tag, content);
  }
}

test(
  "what is history, cached and pending is what a count from scratch finds, whatever happened",
  { timeout: 600_000 },
  async (t) => {
    const all = await world(t);
    const { db, measured, acme } = all;
    const dice = diceOf(35, 4);
    const uploads = new Map<string, number>();
    const seen = { history: 0, cached: 0, pending: 0 };
    for (const name of REPOS) await all.push(name, undefined, name);
    const cache = await db.selectFrom("repos").select("uid").where("name", "=", "three").executeTakeFirstOrThrow();
    await db.insertInto("upstream_repos").values({ repo: cache.uid, upstream: "any", name: "library/three" }).execute();
    for (let step = 0; step < STEPS; step += 1) {
      await something(dice, step, all, uploads);
      if (step % 5 !== 0) continue;
      const { used, ...expected } = await fromScratch(db, new Set(["three"]));
      const pending = [...uploads.values()].reduce((sum, bytes) => sum + bytes, 0);
      const found = await measured();
      assert.deepEqual(found, { ...expected, pending }, `after step ${step}`);
      const row = await db.selectFrom("quotas").select("used_bytes").where("uid", "=", acme).executeTakeFirstOrThrow();
      assert.equal(Number(row.used_bytes), used, `after step ${step}`);
      for (const part of ["history", "cached", "pending"] as const) seen[part] += Number((found[part] ?? 0) > 0);
    }
    assert.ok(Math.min(...Object.values(seen)) > 3, `each is more than nothing at times: ${JSON.stringify(seen)}`);
    assert.deepEqual(all.warned, []);
  },
);

test("a quota says what of it is history, a cache and pending, and when that was measured", async (t) => {
  const platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0" });
  t.after(() => platform.close());
  const { uid: team } = await platform.group(platform.organization, { name: "team" });
  await pushImage(platform, "acme/team/app", "v1");
  const tarball = tarballOf({ name: "cached", version: "1.0.0" });
  assert.equal((await publishNpm(platform, "acme/team", "cached", "1.0.0", { tarball })).status, 201);
  assert.equal((await publishNpm(platform, "acme/team", "own", "1.0.0")).status, 201);
  await platform.transact(async (tx) => {
    const { uid } = await tx
      .selectFrom("artifacts")
      .select("uid")
      .where("normalized", "=", "cached")
      .executeTakeFirstOrThrow();
    await tx.updateTable("artifact_versions").set({ origin: 2 }).where("parent", "=", uid).execute();
  });
  // An upload in another group does not count here.
  await pushImage(platform, "acme/elsewhere", "v1");
  const pusher = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const begun = await platform.call("POST", "/v2/acme/elsewhere/blobs/uploads/", { token: pusher });
  const sent = await platform.call("PATCH", new URL(String(begun.headers["location"]), platform.url).pathname, {
    token: pusher,
    raw: "some bytes",
    headers: { "content-type": "application/octet-stream" },
  });
  assert.equal(sent.status, 202, sent.text);
  const made = await platform.ok<Json & { used: Json }>("POST", `/registry/v2/quotas/${team}`, { bytes: "1000000" });
  assert.deepEqual(
    ["historyBytes", "pendingBytes", "cachedBytes", "measureTime"].filter((name) => name in made.used),
    [],
    "what was not measured is not known",
  );
  const measured = async (isNew: (used: Json) => boolean): Promise<Json> =>
    await eventually(async () => {
      const { used } = await platform.ok<{ used: Json }>("GET", `/registry/v2/quotas/${team}`);
      return used["measureTime"] !== undefined && isNew(used) && used;
    });
  const first = await measured(() => true);
  assert.deepEqual(
    [first["historyBytes"], first["pendingBytes"], first["cachedBytes"]],
    ["0", "0", String(tarball.length)],
  );
  // An hour later the tag is gone, and what it pointed to is history.
  const deleted = await platform.call("DELETE", "/v2/acme/team/app/manifests/v1", { token: pusher });
  assert.equal(deleted.status, 202, deleted.text);
  platform.clock.offsetMs += HOUR_MS;
  platform.wake(["quotas"]);
  const later = await measured((used) => used["measureTime"] !== first["measureTime"]);
  assert.equal(Number(later["historyBytes"]) + Number(later["cachedBytes"]) > tarball.length, true);
  const { used } = await platform.ok<{ used: Json }>("GET", `/registry/v2/quotas/${team}`);
  const rest = Number(used["bytes"]) - Number(later["historyBytes"]) - Number(later["cachedBytes"]);
  assert.ok(rest > 0, "the package that was published here is neither");
  await platform.ok("DELETE", `/registry/v2/quotas/${team}`);
  assert.deepEqual(await platform.reader.selectFrom("quota_shares").select("quota").execute(), []);
});

test("what is more than can be measured is not known, and never 0", async (t) => {
  const { measured, open, push } = await world(t);
  await push("acme/team/one", "a", "first");
  await push("acme/team/two", "a", "second");
  await open("acme/team/one", 100);
  await open("acme/team/two", 20);
  assert.deepEqual(await measured(), { history: 0, pending: 120, cached: 0 });
  for (const [limits, expected] of [
    [{ contents: 5 }, { history: null, pending: 120, cached: null }],
    [{ repoRows: 2 }, { history: null, pending: 120, cached: null }],
    [{ uploads: 1 }, { history: 0, pending: null, cached: 0 }],
  ] as const)
    assert.deepEqual(await measured(limits), expected, JSON.stringify(limits));
  assert.deepEqual(await measured({ contents: 6, uploads: 2 }), { history: 0, pending: 120, cached: 0 });
});
