import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import pg from "pg";
import { type Config, loadConfig, migrateInstallation, startServer, StoreError } from "../src/index.ts";
import { databasePath, lockDataDir, NEWEST_VERSION, openStore } from "../src/store/index.ts";
import { ENGINE } from "./support/database.ts";
import { temporaryFolder } from "./support/installation.ts";

const AT_ONCE = 5;
const run = promisify(execFile);

/** A place with a database that has nothing in it at all. */
async function emptyPlace(t: TestContext): Promise<Record<string, string>> {
  const env = { MOORAGE_DATA_DIR: temporaryFolder(t), MOORAGE_LOG_LEVEL: "silent", MOORAGE_PORT: "0" };
  if (ENGINE === "sqlite") return env;
  const url = new URL(process.env["MOORAGE_TEST_POSTGRES_URL"] ?? "");
  const name = `empty_${randomBytes(8).toString("hex")}`;
  const admin = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: 10_000, statement_timeout: 60_000 });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await admin(`create database ${name}`);
  t.after(() => admin(`drop database if exists ${name} with (force)`));
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { ...env, MOORAGE_DATABASE_URL: own.href };
}

async function versionOf(config: Config): Promise<number> {
  const store = await openStore(config);
  return store.version().finally(() => store.close());
}

async function setVersion(config: Config, version: number): Promise<void> {
  if (ENGINE === "sqlite") {
    const database = new DatabaseSync(databasePath(config.dataDir));
    database.exec(`pragma user_version = ${version}`);
    database.close();
    return;
  }
  const client = new pg.Client({ connectionString: config.databaseUrl });
  await client.connect();
  await client.query("update schema_version set version = $1", [version]).finally(() => client.end());
}

test("the check changes nothing, the migration does, and then there is nothing to do", async (t) => {
  const config = loadConfig(await emptyPlace(t));
  assert.deepEqual(await migrateInstallation(config, { check: true }), { found: 0, now: 0, newest: NEWEST_VERSION });
  assert.equal(await versionOf(config), 0);
  assert.ok(ENGINE === "postgres" || !existsSync(databasePath(config.dataDir)));
  assert.deepEqual(await migrateInstallation(config, { check: false }), { found: 0, now: NEWEST_VERSION, newest: NEWEST_VERSION });
  assert.deepEqual(await migrateInstallation(config, { check: true }), { found: NEWEST_VERSION, now: NEWEST_VERSION, newest: NEWEST_VERSION });
  await (await startServer(config)).close();
});

test("several processes that migrate at once all come to the same end", { timeout: 120_000 }, async (t) => {
  const env = await emptyPlace(t);
  const child = join(import.meta.dirname, "support", "migrate-child.ts");
  const ended = await Promise.all(Array.from({ length: AT_ONCE }, () => run(process.execPath, [child], { env: { ...process.env, ...env }, timeout: 60_000 })));
  assert.deepEqual(ended.map(({ stdout }) => stdout.trim()), Array.from({ length: AT_ONCE }, () => String(NEWEST_VERSION)));
});

test("several stores of one process that migrate at once all come to the same end", { timeout: 60_000 }, async (t) => {
  const config = loadConfig(await emptyPlace(t));
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    const store = await openStore(config);
    await store.migrate().finally(() => store.close());
  }));
  assert.equal(await versionOf(config), NEWEST_VERSION);
});

test("a database of a newer version is left alone", async (t) => {
  const config = loadConfig(await emptyPlace(t));
  await migrateInstallation(config, { check: false });
  await setVersion(config, NEWEST_VERSION + 1);
  for (const check of [true, false]) await assert.rejects(migrateInstallation(config, { check }), (error) => error instanceof StoreError && /newer than this moorage/.test(error.message));
  assert.equal(await versionOf(config), NEWEST_VERSION + 1);
});

test("a data folder that a server holds is not migrated beneath it", { skip: ENGINE === "postgres" && "a data folder is SQLite's", timeout: 60_000 }, async (t) => {
  const config = loadConfig(await emptyPlace(t));
  const lock = lockDataDir(config.dataDir);
  await assert.rejects(migrateInstallation(config, { check: false }), /in use/);
  assert.equal(await versionOf(config), 0);
  lock.release();
  assert.equal((await migrateInstallation(config, { check: false })).now, NEWEST_VERSION);
});
