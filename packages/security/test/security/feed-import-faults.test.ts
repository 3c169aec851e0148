import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { Code, MoorageError } from "../../../kernel/src/errors.ts";
import { importFeed, putFeeds, SourceError } from "../../src/security/index.ts";
import { fileSource } from "../../src/security/feeds/source.ts";
import { fileOf } from "../../../server/test/support/feed-files.ts";
import {
  archiveOf,
  type FeedInstallation,
  importAround,
  OSV_FEED,
  openFeedDeps,
  openFeedInstallation,
  someRecords,
} from "../../../server/test/support/feed-installation.ts";

const TIMEOUT = { timeout: 300_000 };

/** All that an import leaves, but the times and the change numbers. */
async function stateOf({ db, records }: FeedInstallation): Promise<unknown> {
  const rows = (await records()).map(({ change: _change, ...row }) => row);
  const keys = await db.selectFrom("feed_keys").selectAll().orderBy("kind").orderBy("key").orderBy("record").execute();
  const feeds = await db
    .selectFrom("feeds")
    .select(["name", "records", "withdrawn", "problems", "newest", "error"])
    .execute();
  return { rows, keys, feeds };
}

/** Starts an import, and kills it with SIGKILL when it has written so many batches, before it has written two more. */
async function killedImport(
  t: TestContext,
  { env }: FeedInstallation,
  file: string,
  afterBatches: number,
): Promise<void> {
  const program = path.join(import.meta.dirname, "../../../server/test/support/feed-import-child.ts");
  const child: ChildProcess = spawn(process.execPath, [program, "osv", file, String(afterBatches + 1)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const exited = once(child, "exit");
  let batches = 0;
  assert.ok(child.stdout);
  for await (const line of createInterface(child.stdout)) {
    assert.notEqual(line, "ended", "the import was over before it was killed");
    batches += 1;
    if (batches === afterBatches) child.kill("SIGKILL");
  }
  const [, signal] = (await exited) as [number | null, string | null];
  assert.equal(signal, "SIGKILL");
}

test(
  "an import that is killed leaves whole records, and one that follows ends in the same state",
  TIMEOUT,
  async (t) => {
    const old = someRecords(1_500).map((record) => ({ ...record, aliases: [`CVE-${record.id}`] }));
    // A tenth is gone, some have changed, some are new.
    const now = [
      ...old.slice(150, 500),
      ...old.slice(500).map((record) => ({ ...record, aliases: [] })),
      ...someRecords(300, "B"),
    ];
    const [killed, untouched] = [await openFeedInstallation(t), await openFeedInstallation(t)];
    for (const each of [killed, untouched]) {
      await each.admin((feeds) => feeds.add(OSV_FEED));
      await each.importOsv("osv", old);
    }
    const file = archiveOf(t, now);
    for (const afterBatches of [1, 3, 6]) {
      await killedImport(t, killed, file, afterBatches);
      // Each record is found by what it has, and by nothing else.
      const torn = await killed.db
        .selectFrom("feed_records as r")
        .leftJoin("feed_keys as k", (on) => on.onRef("k.feed", "=", "r.feed").onRef("k.record", "=", "r.id"))
        .select(({ fn }) => ["r.id", "r.body", fn.count<number>("k.key").as("keys")])
        .groupBy(["r.id", "r.body"])
        .execute();
      const expected = (body: string): number => 1 + (JSON.parse(body) as { aliases: string[] }).aliases.length;
      assert.deepEqual(
        torn.filter(({ body, keys }) => body.includes("aliases") && Number(keys) !== expected(body)),
        [],
      );
    }
    await killed.admin((feeds) => feeds.importData("osv", file, {}));
    await untouched.admin((feeds) => feeds.importData("osv", file, {}));
    assert.deepEqual(await stateOf(killed), await stateOf(untouched));
    const changes = (await killed.records()).map(({ change }) => change);
    assert.equal(new Set(changes).size, changes.length);
  },
);

test("of two imports of a feed the one that began later goes on", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  const older = importAround(t, await openFeedDeps(t, installation), someRecords(300, "OLD"), {
    work: () => installation.importOsv("osv", someRecords(5, "NEW"), { allowShrink: true }),
  });
  await assert.rejects(older, /another import of the feed osv has begun/);
  const rows = (await installation.records()).filter(({ removed }) => removed === 0);
  assert.deepEqual(
    rows.map(({ id }) => id),
    someRecords(5, "NEW").map(({ id }) => id),
  );
});

test("imports of several feeds wait for each other, and none is begun again", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  const names = ["a", "b", "c", "d"];
  await installation.admin(async (feeds) => {
    for (const name of names) await feeds.add({ ...OSV_FEED, name });
  });
  let retries = 0;
  const all = names.map(async (name) => {
    const deps = await openFeedDeps(t, installation, () => (retries += 1));
    const imported = async (count: number): Promise<void> => {
      const source = await fileSource("osv", archiveOf(t, someRecords(count, name)));
      await importFeed(deps, name, source, { allowShrink: true });
    };
    await imported(600);
    await imported(300);
  });
  await Promise.all(all);
  assert.equal(retries, 0);
  const changes = (await installation.records()).map(({ change }) => change);
  assert.equal(new Set(changes).size, names.length * 600);
  // Each record was written once, and half of them were removed once.
  assert.equal(Math.max(...changes), names.length * 900);
});

test("of many imports of a feed at the same time one is there at the end, whole", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  const imports = Array.from({ length: 5 }, async (_, at) => {
    const deps = await openFeedDeps(t, installation);
    const records = someRecords(700).map((record, n) => ({ ...record, aliases: [`CVE-${at}-${n}`] }));
    const source = await fileSource("osv", archiveOf(t, [...records, { id: `OWN-${at}` }]));
    return importFeed(deps, "osv", source, { allowShrink: true }).then(
      () => at,
      (error: unknown) => {
        assert.ok(error instanceof MoorageError && error.code === Code.Aborted, String(error));
      },
    );
  });
  const done = (await Promise.all(imports)).filter((each) => each !== undefined);
  assert.ok(done.length > 0);
  const rows = (await installation.records()).filter(({ removed }) => removed === 0);
  const own = rows.filter(({ id }) => id.startsWith("OWN-")).map(({ id }) => Number(id.slice(4)));
  assert.equal(own.length, 1, "what the others had is gone");
  assert.ok(done.includes(own[0] ?? -1));
  assert.deepEqual(
    await installation.keys("alias"),
    rows
      .filter(({ id }) => !id.startsWith("OWN-"))
      .map(({ id }) => `cve-${own[0]}-${Number(id.slice(2)) - 1} of ${id}`)
      .toSorted(),
  );
  const feed = await installation.feed("osv");
  assert.deepEqual([feed?.run, feed?.records, feed?.error], ["", 701, ""]);
});

test("of many who add a feed of one name at the same time one does", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  const deps = await Promise.all(Array.from({ length: 5 }, () => openFeedDeps(t, installation)));
  const add = ({ transactor }: (typeof deps)[number], at: number): Promise<void> =>
    transactor.write(putFeeds, systemCall(1), {
      feeds: [
        {
          name: "one",
          format: at % 2 === 0 ? "kev" : "epss",
          address: "",
          licence: `${at}`,
          intervalMs: 1,
          products: [],
        },
      ],
      origin: "command",
      mustBeNew: true,
    });
  const outcomes = await Promise.allSettled(deps.map(add));
  const added = outcomes.flatMap(({ status }, at) => (status === "fulfilled" ? [String(at)] : []));
  assert.deepEqual([(await installation.feed("one"))?.licence], added);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") assert.match(String(outcome.reason), /there is a feed one already/);
});

test("the counts of a feed hold after an import that failed in the middle", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  const failing = importAround(t, await openFeedDeps(t, installation), someRecords(300), {
    work: async () => {
      throw new SourceError("it breaks off");
    },
  });
  await assert.rejects(failing, /it breaks off/);
  const feed = await installation.feed("osv");
  assert.deepEqual([feed?.records, feed?.error, feed?.success_time], [200, "it breaks off", null]);
});

test(
  "an export of all feeds carries them to another installation; a damaged one changes nothing",
  TIMEOUT,
  async (t) => {
    const [from, to] = [await openFeedInstallation(t), await openFeedInstallation(t)];
    await from.admin(async (feeds) => {
      await feeds.add({ ...OSV_FEED, address: "https://example.com/all.zip" });
      await feeds.add({ name: "vex", format: "openvex", licence: "Apache-2.0", products: ["pkg:oci/app"] });
      await feeds.add({ name: "empty", format: "kev", licence: "CC0-1.0" });
    });
    const records = someRecords(1_200).map((record) => ({
      ...record,
      aliases: [`CVE-${record.id}`],
      withdrawn: "2026-02-01T00:00:00Z",
    }));
    await from.importOsv("osv", records);
    const vex = {
      "@context": "https://openvex.dev/ns/v0.2.0",
      "@id": "v",
      timestamp: "2026-01-01T00:00:00Z",
      statements: [{ vulnerability: { name: "CVE-1" }, status: "fixed", products: [{ "@id": "pkg:oci/app" }] }],
    };
    await from.admin((feeds) => feeds.importData("vex", fileOf(t, "vex.json", JSON.stringify(vex)), {}));
    const bundle = fileOf(t, "feeds.gz", "");
    assert.deepEqual(await from.admin((feeds) => feeds.exportAll(bundle)), { feeds: 3, records: 1_201 });

    const lines = gunzipSync(readFileSync(bundle)).toString().split("\n");
    for (const damaged of [
      lines.slice(0, 600).join("\n"),
      lines.map((line) => line.replace('"feeds"', '"other"')).join("\n"),
      lines.map((line, at) => (at === 700 ? "{" : line)).join("\n"),
    ]) {
      await assert.rejects(
        to.admin((feeds) => feeds.importAll(fileOf(t, "damaged.gz", gzipSync(damaged)), {})),
        /^Error: .*damaged\.gz/,
      );
      assert.deepEqual(await to.db.selectFrom("feeds").selectAll().execute(), []);
    }

    const done = await to.admin((feeds) => feeds.importAll(bundle, {}));
    assert.deepEqual(
      done.map(({ feed, changed }) => [feed, changed]),
      [
        ["empty", 0],
        ["osv", 1_200],
        ["vex", 1],
      ],
    );
    const [mine, theirs] = [await stateOf(to), await stateOf(from)] as { rows: unknown; keys: unknown }[];
    assert.deepEqual([mine?.rows, mine?.keys], [theirs?.rows, theirs?.keys]);
    const feed = await to.feed("osv");
    // Without its address: nothing is fetched here unless the operator says so.
    assert.deepEqual([feed?.licence, feed?.address, feed?.withdrawn], ["CC-BY-4.0", "", 1_200]);
    assert.equal((await to.feed("vex"))?.products, '["pkg:oci/app"]');
    const again = await to.admin((feeds) => feeds.importAll(bundle, {}));
    assert.deepEqual(
      again.map(({ changed, removed }) => [changed, removed]),
      [
        [0, 0],
        [0, 0],
        [0, 0],
      ],
    );
  },
);
