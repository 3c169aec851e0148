import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import { collectInstallation, type Config, loadConfig } from "../../src/index.ts";
import { openBlobsOf, openCommandWriter } from "../../src/installation/stores.ts";
import { clockOf } from "../../../kernel/src/lib/clock.ts";
import { Code, MoorageError } from "../../../kernel/src/errors.ts";
import { cleanUploads } from "../../../registry/src/oci/blobs/stale-uploads.ts";
import { collectGarbage } from "../../../registry/src/oci/index.ts";
import { type Database, NEWEST_VERSION, openStore } from "../../../kernel/src/store/index.ts";
import { databaseEnv, ENGINE, openTestStore } from "../support/database.ts";
import { digestOf, startInstallation, temporaryFolder } from "../support/installation.ts";
import { makeNewerProgram } from "../support/newer-program.ts";
import { eventually } from "../support/eventually.ts";

// Two versions of the program on one database: that of today, and one with another migration.

const OPTIONS = { timeout: 300_000 };
const ONLY_POSTGRES = ENGINE === "sqlite" ? "only PostgreSQL has several writers" : false;

const isRefused = (error: unknown): boolean =>
  error instanceof MoorageError && error.code === Code.Unavailable && /newer moorage/.test(error.message);

async function configOf(dataDir: string): Promise<Config> {
  return loadConfig({ MOORAGE_DATA_DIR: dataDir, ...(await databaseEnv(dataDir)) });
}

const name = async (tx: Database, key: string): Promise<void> => {
  await tx.insertInto("installation").values({ key, value: "" }).execute();
};

test(
  "after a newer program's migration an older one answers reads, refuses writes, is not ready, and collects nothing",
  OPTIONS,
  async (t) => {
    const older = await startInstallation(t);
    const { organization } = older.bootstrap;
    const image = await older.pushImage(`${organization.name}/app`, "latest", "one");
    assert.equal(image.answer.status, 201);
    const config = { ...(await configOf(older.dataDir)), gcGraceMs: 0 };
    // A collection that has begun before the migration.
    const store = await openStore(config);
    const blobs = await openBlobsOf(config);
    const writer = await openCommandWriter(store, config, () => {});
    const newer = await makeNewerProgram(t).openStore(config);
    t.after(async () => {
      await writer.close();
      await store.close();
      await newer.close();
    });
    await newer.migrate();
    // What the newer program stores, it records in its own table, with a record of the content or without.
    const stored = [];
    for (const content of ["recorded", "its own"]) {
      const digest = digestOf(content);
      stored.push({ digest, generation: (await blobs.storeWhole(Buffer.from(content), digest)).generation });
      await newer.transact(async (tx) => {
        await sql`insert into parcels (digest) values (${digest})`.execute(tx);
      });
    }
    const [recorded = { digest: "", generation: "" }] = stored;
    await newer.transact(async (tx) => {
      await tx
        .insertInto("blobs")
        .values({ ...recorded, size: 8, create_time: 1 })
        .execute();
    });
    const nowMs = Date.now() + 365 * 86_400_000;
    const signal = new AbortController().signal;
    await assert.rejects(
      collectGarbage({ transactor: writer, blobs }, { nowMs, graceMs: 0, uploadTtlMs: 0, dryRun: false, signal }),
      isRefused,
    );
    await assert.rejects(
      cleanUploads({ transactor: writer, blobs, clock: clockOf(() => nowMs), config: { uploadTtlMs: 0 } }),
      isRefused,
    );
    await assert.rejects(collectInstallation(config, { dryRun: false, graceMs: 0 }), /the database is of version/);
    for (const { digest, generation } of stored)
      assert.equal(digestOf((await blobs.readWhole(digest, generation)).toString()), digest, "it is kept");

    const refused = await older.ask("POST", `/registry/v2/repos/${organization.uid}`, {
      token: older.platform,
      json: { name: "late" },
    });
    assert.equal(refused.status, 503, refused.text);
    assert.match(refused.text, /newer moorage/);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    const push = await older.pushManifest(`${organization.name}/app`, "again", { mediaType: "text/plain" });
    assert.equal(push.status >= 400, true);
    const pull = await older.ask("GET", `/v2/${organization.name}/app/manifests/latest`, { token: older.registry });
    assert.equal(pull.status, 200);
    await eventually(async () => (await older.ask("GET", "/readyz")).status === 503);
    assert.match((await older.ask("GET", "/readyz")).text, /newer moorage/);
    assert.equal((await older.ask("GET", "/healthz")).status, 200, "a restart would not mend it");
    assert.ok(older.lines.some((line) => line.includes("newer moorage") && line.includes(`"level":50`)));
  },
);

test("nothing is collected while a process of another schema serves the installation", OPTIONS, async (t) => {
  const { dataDir, bootstrap, ...older } = await startInstallation(t);
  const image = await older.pushImage(`${bootstrap.organization.name}/app`, "latest", "one");
  assert.equal(image.answer.status, 201);
  const config = { ...(await configOf(dataDir)), gcGraceMs: 0 };
  const store = await openStore(config);
  t.after(() => store.close());
  const note = (schema: number, untilMs: number): Promise<void> =>
    store.transact(async (tx) => {
      await tx.deleteFrom("processes").where("id", "=", "other").execute();
      await tx.insertInto("processes").values({ id: "other", version: "0.0.9", schema, until_time: untilMs }).execute();
    });
  await store.transact(async (tx) => {
    await tx.deleteFrom("tags").execute();
    await tx.deleteFrom("tag_history").execute();
    await tx.updateTable("manifests").set({ touch_time: 0 }).execute();
    await tx.updateTable("repo_blobs").set({ touch_time: 0 }).execute();
  });
  await note(NEWEST_VERSION - 1, Date.now() + 3_600_000);
  await assert.rejects(
    collectInstallation(config, { dryRun: false, graceMs: 0 }),
    (error) => error instanceof MoorageError && /moorage 0\.0\.9/.test(error.message),
  );
  await note(NEWEST_VERSION, Date.now() + 3_600_000);
  assert.equal((await collectInstallation(config, { dryRun: false, graceMs: 0 })).manifests, 1);
  assert.ok(
    (await store.reader.selectFrom("processes").selectAll().execute()).some(
      ({ id, schema }) => id !== "other" && schema === NEWEST_VERSION,
    ),
    "the server itself is among them",
  );
});

test(
  "a migration waits for transactions that write, and those that wait for it are refused",
  { ...OPTIONS, skip: ONLY_POSTGRES },
  async (t) => {
    const dataDir = temporaryFolder(t);
    // One of its transactions waits for others here, on a machine that may be busy.
    const { store, close } = await openTestStore(dataDir, { databaseIdleMs: 120_000 });
    const newer = await makeNewerProgram(t).openStore(await configOf(dataDir));
    const { databaseUrl } = await configOf(dataDir);
    const watcher = new pg.Client({ connectionString: databaseUrl });
    await watcher.connect();
    t.after(async () => {
      await watcher.end();
      await newer.close();
      await close();
    });
    const waitingFor = async (mode: string, count: number): Promise<boolean> =>
      ((
        await watcher.query(
          "select 1 from pg_locks where not granted and mode = $1 and relation = 'schema_version'::regclass",
          [mode],
        )
      ).rowCount ?? 0) >= count;
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const early = store.transact(async (tx) => {
      await name(tx, "early");
      begun.resolve();
      await goOn.promise;
      await name(tx, "early too");
    });
    await begun.promise;
    const migrated = newer.migrate();
    await eventually(() => waitingFor("AccessExclusiveLock", 1));
    // Those that come while a migration is under way stand behind it.
    const late = [
      store.transact((tx) => name(tx, "late")),
      store.transact((tx) => name(tx, "late too"), { isolation: "read committed" }),
    ].map((done) => assert.rejects(done, isRefused));
    await eventually(() => waitingFor("AccessShareLock", late.length));
    goOn.resolve();
    await early;
    await migrated;
    await Promise.all(late);
    const { rows } = await watcher.query<{ key: string }>("select key from installation order by key");
    assert.deepEqual(
      rows.map(({ key }) => key),
      ["early", "early too"],
    );
    // Refused transactions leave their connections usable.
    for (let at = 0; at < 10; at++)
      await assert.rejects(
        store.transact((tx) => name(tx, "later")),
        isRefused,
      );
    assert.equal((await store.reader.selectFrom("installation").selectAll().execute()).length, 2);
  },
);
