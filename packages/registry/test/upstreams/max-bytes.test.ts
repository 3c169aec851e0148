// A group that stands for a registry and keeps only so much of it: what was pulled the longest ago goes.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { select } from "../../../kernel/src/store/index.ts";
import { loadConfig } from "../../../server/src/index.ts";
import { databaseEnv, openTestStore } from "../../../server/test/support/database.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startFakeHub } from "../../../server/test/support/fake-hub.ts";
import { foundBy } from "../../../server/test/support/fsck.ts";
import { type Answer, digestOf, startInstallation } from "../../../server/test/support/installation.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";

const UPSTREAMS = "/registry/v2/upstreams";
const QUOTAS = "/registry/v2/quotas";
const LAYER = 4_000;
/** Four images and their manifests fit, but then it is nearly full. */
const LIMIT = 20_000;
const HOUR_MS = 3_600_000;

async function startWorld(t: TestContext, fields: object = { maxBytes: String(LIMIT) }) {
  const hub = await startFakeHub(t);
  const here = await startInstallation(t, { ...LOOPBACK, MOORAGE_WORK_POLL: "50ms", MOORAGE_GC_INTERVAL: "0" });
  const { uid: group } = await here.api("POST", `/iam/v2/groups/${here.bootstrap.organization.uid}`, { name: "hub" });
  const { uid } = await here.api("POST", `${UPSTREAMS}/${group}`, { registry: hub.registry, ...fields });
  const { db, close } = await openTestStore(here.dataDir);
  t.after(close);
  const isCounted = db.selectFrom("quotas").select("uid").where("counted_to", "=", "9");
  if ("maxBytes" in fields) await eventually(async () => (await isCounted.execute()).length === 1);
  const ask = (path: string): Promise<Answer> => here.ask("GET", `/v2/acme/hub/${path}`, { token: here.registry });
  const push = (name: string, tags: string | string[]) => hub.push("app", tags, name.padEnd(LAYER, name));
  /** Pulls an image as clients do, and checks what comes. */
  const pull = async (reference: string, image: ReturnType<typeof push>, repo = "app"): Promise<void> => {
    const manifest = await ask(`${repo}/manifests/${reference}`);
    assert.deepEqual([manifest.status, digestOf(manifest.text)], [200, image.digest], reference);
    if (image.layer === "") return;
    const blob = await ask(`${repo}/blobs/${image.layer}`);
    assert.deepEqual([blob.status, digestOf(blob.text)], [200, image.layer], reference);
  };
  const held = async (): Promise<Set<string>> =>
    new Set((await db.selectFrom("manifests").select("digest").execute()).map(({ digest }) => digest));
  const tags = async (): Promise<string[]> =>
    (await db.selectFrom("tags").select("name").orderBy("name").execute()).map(({ name }) => name);
  const isNoted = async (digest: string): Promise<boolean> =>
    (await db.selectFrom("last_pulls").select("digest").where("digest", "=", digest).execute()).length > 0;
  /** Pulls an image and waits until it is here with its tag, and its pull is noted. */
  const keep = async (tag: string, image: ReturnType<typeof push>): Promise<void> => {
    await pull(tag, image);
    await eventually(async () => (await tags()).includes(tag) && (await isNoted(image.digest)));
  };
  /** What is refused is kept only when it is pulled once more after there is space. */
  const pullUntilHeld = async (tag: string, image: ReturnType<typeof push>): Promise<void> => {
    await eventually(async () => {
      await pull(tag, image);
      await wait(1_000);
      return (await held()).has(image.digest);
    });
  };
  /** Everything of an image was so long ago. */
  const older = async ({ digest, layer }: ReturnType<typeof push>, hours: number): Promise<void> => {
    const ms = hours * HOUR_MS;
    await select(db, `update manifests set touch_time = touch_time - ${ms} where digest = ?`, [digest]);
    await select(db, `update tags set update_time = update_time - ${ms} where digest = ?`, [digest]);
    await select(db, `update tag_history set time = time - ${ms} where digest = ?`, [digest]);
    await select(db, `update last_pulls set time = time - ${ms} where digest = ?`, [digest]);
    await select(db, `update repo_blobs set touch_time = touch_time - ${ms} where digest = ?`, [layer]);
  };
  const used = async (): Promise<number> =>
    Number((await db.selectFrom("quotas").select("used_bytes").executeTakeFirst())?.used_bytes ?? -1);
  const isOnDisk = (digest: string): boolean =>
    globSync(`**/*${digest.slice("sha256:".length)}*`, { cwd: here.dataDir }).length > 0;
  return { hub, here, group, uid, db, push, pull, pullUntilHeld, keep, older, held, tags, used, isOnDisk };
}

test("what was pulled the longest ago goes for what is pulled next, and comes again when it is pulled", async (t) => {
  const world = await startWorld(t);
  const { here, group, uid, push, pull, pullUntilHeld, keep, older, held, tags, used, isOnDisk } = world;
  const upstream = await here.api<Record<string, unknown>>("GET", `${UPSTREAMS}/${uid}`);
  assert.equal(upstream["maxBytes"], String(LIMIT));
  const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map((name) => push(name, name)) as Parameters<typeof older>[0][];
  assert.ok(a && b && c && d && e);
  for (const [tag, image] of Object.entries({ a, b, c })) await keep(tag, image);
  // It came first, and was pulled last.
  await older(a, 5);
  await older(b, 3);
  await older(c, 4);
  await pull("a", a);
  await eventually(async () => {
    const [row] = await select<{ time: number }>(world.db, "select time from last_pulls where digest = ?", [a.digest]);
    return Number(row?.time) > Date.now() - HOUR_MS;
  });
  await keep("d", d);
  // Whether there was space for it or not, its clients get it, and then it is kept.
  await pullUntilHeld("e", e);
  assert.deepEqual(await tags(), ["a", "b", "d", "e"]);
  assert.deepEqual([(await held()).has(a.digest), (await held()).has(c.digest)], [true, false]);
  await eventually(() => !isOnDisk(c.layer));
  assert.ok(isOnDisk(a.layer));
  assert.ok((await used()) <= LIMIT, `${await used()} bytes`);
  const audited = world.db.selectFrom("audit_entries").select("method").where("method", "=", "registry.cache.evict");
  assert.ok((await audited.execute()).length > 0);
  await pull("c", c);

  // The limit is what a group keeps of a registry, not a quota that somebody has set.
  const { quotas } = await here.api<{ quotas: unknown[] }>("GET", QUOTAS);
  assert.deepEqual(quotas, []);
  assert.equal((await here.ask("GET", `${QUOTAS}/${group}`, { token: here.platform })).status, 404);
});

test("an index that is pulled keeps its images, and a layer that another image needs stays", async (t) => {
  const { hub, push, pull, pullUntilHeld, keep, older, held, tags, isOnDisk, used } = await startWorld(t, {
    maxBytes: "17000",
  });
  const [one, two] = [push("one", []), push("two", [])];
  const index = hub.pushIndex("app", "both", [one, two]);
  await keep("both", index);
  await eventually(async () => (await held()).size === 3);
  // The same layer under another tag of another repo: it is one content of the group.
  const twin = hub.push("twin", "twin", "one".padEnd(LAYER, "one"));
  assert.equal(twin.layer, one.layer);
  const [old, other] = [push("old", "old"), push("other", "other")];
  await keep("old", old);
  for (const image of [one, two]) await older(image, 9);
  await older(old, 5);
  await pullUntilHeld("other", other);
  await eventually(async () => !(await held()).has(old.digest));
  for (const { digest } of [index, one, two]) assert.ok((await held()).has(digest), "they belong to what was pulled");

  await older(index, 20);
  await pull("twin", twin, "twin");
  await eventually(async () => (await tags()).includes("twin"));
  const more = push("more", "more");
  await pullUntilHeld("more", more);
  await eventually(async () => !(await held()).has(index.digest));
  await eventually(() => !isOnDisk(two.layer));
  assert.ok(isOnDisk(twin.layer), "another repo has it");
  assert.ok((await used()) <= 17_000);
});

test("what a policy protects stays, and what has no space is passed on whole", async (t) => {
  const tagPolicy = { protectedTags: ["keep-.*"] };
  const { here, push, pull, keep, older, tags, used, held } = await startWorld(t, { maxBytes: "14000", tagPolicy });
  const images = ["keep-1", "keep-2", "keep-3"].map((tag) => ({ tag, image: push(tag, tag) }));
  for (const { tag, image } of images) {
    await keep(tag, image);
    await older(image, 9);
  }
  const next = push("next", "next");
  await Promise.all(Array.from({ length: 5 }, () => pull("next", next)));
  await eventually(async () => /full of what is used or protected/.test(here.lines.join("\n")));
  await pull("next", next);
  assert.deepEqual(await tags(), ["keep-1", "keep-2", "keep-3"]);
  assert.ok(!(await held()).has(next.digest));
  assert.ok((await used()) <= 14_000);
});

test("a lower limit holds for what is here, none lets everything stay, and nothing goes of what cannot come again", async (t) => {
  const { hub, here, group, uid, db, push, pull, keep, older, tags } = await startWorld(t, {});
  for (const [at, tag] of ["a", "b", "c"].entries()) {
    const image = push(tag, tag);
    await keep(tag, image);
    await older(image, 9 - at);
  }
  // Another group inside, whose registry is not asked any longer.
  const { uid: inside } = await here.api("POST", `/iam/v2/groups/${group}`, { name: "off" });
  const { uid: off } = await here.api("POST", `${UPSTREAMS}/${inside}`, { registry: hub.registry });
  const old = push("off", "off");
  await pull("off", old, "off/app");
  await eventually(async () => (await tags()).includes("off"));
  await older(old, 20);
  await here.api("PATCH", `${UPSTREAMS}/${off}`, { disabled: true });
  const config = loadConfig({ MOORAGE_DATA_DIR: here.dataDir, ...(await databaseEnv(here.dataDir)) });
  const set = (fields: object) => here.api("PATCH", `${UPSTREAMS}/${uid}`, fields);
  await set({ disabled: true, maxBytes: "14000" });
  const counted = db.selectFrom("quotas").select("uid").where("counted_to", "=", "9");
  await eventually(async () => (await counted.execute()).length === 1);
  assert.deepEqual(await tags(), ["a", "b", "c", "off"], "while the registry is not asked");
  await set({ disabled: false });
  await eventually(async () => (await tags()).join() === "c,off");

  // A quota that somebody sets counts on, and its end leaves the limit of the cache.
  const quota = await here.api<{ state: string; used: { bytes?: string } }>("POST", `${QUOTAS}/${group}`, {
    tags: "9",
  });
  assert.deepEqual([quota.state, Number(quota.used.bytes) > LAYER], ["QUOTA_STATE_OK", true]);
  await here.api("DELETE", `${QUOTAS}/${group}`);
  assert.equal((await here.ask("GET", `${QUOTAS}/${group}`, { token: here.platform })).status, 404);
  const row = await db.selectFrom("quotas").select(["cache_bytes", "tags", "is_set"]).executeTakeFirstOrThrow();
  assert.deepEqual([Number(row.cache_bytes), row.tags, row.is_set], [14_000, null, 0]);
  assert.deepEqual(await foundBy(config, { repair: false }), []);

  await set({ maxBytes: "0" });
  assert.equal(await counted.executeTakeFirst(), undefined);
  await set({ maxBytes: "14000" });
  await here.api("DELETE", `${UPSTREAMS}/${uid}`);
  assert.equal(await db.selectFrom("quotas").select("uid").executeTakeFirst(), undefined);
  assert.deepEqual(await tags(), ["c", "off"]);
  assert.deepEqual(await foundBy(config, { repair: false }), []);

  // Without its server, the database can be repaired.
  await here.api("POST", `${UPSTREAMS}/${group}`, { registry: hub.registry, maxBytes: "14000" });
  await eventually(async () => (await counted.execute()).length === 1);
  await here.close();
  const limit = async () =>
    Number((await db.selectFrom("quotas").select("cache_bytes").executeTakeFirst())?.cache_bytes);
  await select(db, "update quotas set cache_bytes = 5", []);
  assert.deepEqual(await foundBy(config, { repair: true }), ["quota-cache-limit 0"]);
  assert.equal(await limit(), 14_000);
  await select(db, "delete from quotas", []);
  assert.deepEqual((await foundBy(config, { repair: true })).toSorted(), [
    "quota-cache-limit 0",
    "quota-content-without-quota 0",
  ]);
  assert.equal(await limit(), 14_000);
});

test("however many clients pull at a time, each gets its image, and never more is kept than may be", async (t) => {
  const { push, pull, used } = await startWorld(t);
  const images = Array.from({ length: 12 }, (_, at) => ({ tag: `t${at}`, image: push(`t${at}-`, `t${at}`) }));
  const seen: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(images.map(({ tag, image }) => pull(tag, image)));
    seen.push(await used());
  }
  const endMs = performance.now() + 6_000;
  await eventually(async () => {
    seen.push(await used());
    return performance.now() > endMs;
  });
  assert.deepEqual(
    seen.filter((bytes) => bytes > LIMIT),
    [],
  );
});
