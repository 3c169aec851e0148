import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import pg from "pg";
import { type Config, loadConfig, migrateInstallation, startServer, StoreError } from "../../src/index.ts";
import { databasePath, lockDataDir, NEWEST_VERSION, openStore } from "../../../kernel/src/store/index.ts";
import { MIGRATIONS } from "../../../kernel/src/store/migrations.ts";
import { ENGINE } from "../support/database.ts";
import { temporaryFolder } from "../support/installation.ts";

const AT_ONCE = 5;
const run = promisify(execFile);

/** A place with a completely empty database. */
async function emptyPlace(t: TestContext): Promise<Record<string, string>> {
  const env = { MOORAGE_DATA_DIR: temporaryFolder(t), MOORAGE_LOG_LEVEL: "silent", MOORAGE_PORT: "0" };
  if (ENGINE === "sqlite") return env;
  const url = new URL(process.env["MOORAGE_TEST_POSTGRES_URL"] ?? "");
  const name = `empty_${randomBytes(8).toString("hex")}`;
  const admin = async (statement: string): Promise<void> => {
    const client = new pg.Client({
      connectionString: url.href,
      connectionTimeoutMillis: 10_000,
      statement_timeout: 60_000,
    });
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

test("the check changes nothing, the migration brings the database up to date, and then nothing is left to do", async (t) => {
  const config = loadConfig(await emptyPlace(t));
  assert.deepEqual(await migrateInstallation(config, { check: true }), {
    found: 0,
    now: 0,
    newest: NEWEST_VERSION,
    pending: MIGRATIONS.map(({ version, name }) => ({ version, name })),
  });
  assert.equal(await versionOf(config), 0);
  assert.ok(ENGINE === "postgres" || !existsSync(databasePath(config.dataDir)));
  assert.deepEqual(await migrateInstallation(config, { check: false }), {
    found: 0,
    now: NEWEST_VERSION,
    newest: NEWEST_VERSION,
    pending: [],
  });
  assert.deepEqual(await migrateInstallation(config, { check: true }), {
    found: NEWEST_VERSION,
    now: NEWEST_VERSION,
    newest: NEWEST_VERSION,
    pending: [],
  });
  await (await startServer(config)).close();
});

test("several processes that migrate concurrently all succeed", { timeout: 300_000 }, async (t) => {
  const env = await emptyPlace(t);
  const child = join(import.meta.dirname, "..", "support", "migrate-child.ts");
  const ended = await Promise.all(
    Array.from({ length: AT_ONCE }, () =>
      run(process.execPath, [child], { env: { ...process.env, ...env }, timeout: 60_000 }),
    ),
  );
  assert.deepEqual(
    ended.map(({ stdout }) => stdout.trim()),
    Array.from({ length: AT_ONCE }, () => String(NEWEST_VERSION)),
  );
});

test("several stores of one process that migrate concurrently all succeed", { timeout: 300_000 }, async (t) => {
  const config = loadConfig(await emptyPlace(t));
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const store = await openStore(config);
      await store.migrate().finally(() => store.close());
    }),
  );
  assert.equal(await versionOf(config), NEWEST_VERSION);
});

test("a database of a newer version is refused and not changed", async (t) => {
  const config = loadConfig(await emptyPlace(t));
  await migrateInstallation(config, { check: false });
  await setVersion(config, NEWEST_VERSION + 1);
  for (const check of [true, false])
    await assert.rejects(
      migrateInstallation(config, { check }),
      (error) => error instanceof StoreError && /newer than this moorage/.test(error.message),
    );
  assert.equal(await versionOf(config), NEWEST_VERSION + 1);
});

test(
  "a data folder that a server uses is not migrated",
  { skip: ENGINE === "postgres" && "a data folder is SQLite's", timeout: 300_000 },
  async (t) => {
    const config = loadConfig(await emptyPlace(t));
    const lock = lockDataDir(config.dataDir);
    await assert.rejects(migrateInstallation(config, { check: false }), /in use/);
    assert.equal(await versionOf(config), 0);
    lock.release();
    assert.equal((await migrateInstallation(config, { check: false })).now, NEWEST_VERSION);
  },
);

/** A database of the first version, with the rows that the statements add. */
async function makeFirst(config: Config, statements: string[]): Promise<void> {
  const first = MIGRATIONS[0]?.statements ?? [];
  if (ENGINE === "sqlite") {
    const database = new DatabaseSync(databasePath(config.dataDir));
    const typed = first.map((text) =>
      text
        .replace(/\bKEY\b/g, "text")
        .replace(/\bINT8\b/g, "integer")
        .replace(/\bBYTES\b/g, "blob")
        .replace(/\bWITHOUT_ROWID\b/g, "without rowid"),
    );
    for (const statement of [...typed, ...statements]) database.exec(statement);
    database.exec("pragma user_version = 1");
    database.close();
    return;
  }
  const client = new pg.Client({ connectionString: config.databaseUrl });
  await client.connect();
  try {
    const typed = first.map((text) =>
      text
        .replace(/\b(?:KEY|text)\b/g, 'text collate "C"')
        .replace(/\bINT8\b/g, "bigint")
        .replace(/\bBYTES\b/g, "bytea")
        .replace(/\bWITHOUT_ROWID\b/g, ""),
    );
    for (const statement of [
      ...typed,
      ...statements,
      "create table schema_version (version bigint not null)",
      "insert into schema_version values (1)",
    ])
      await client.query(statement);
  } finally {
    await client.end();
  }
}

test("the content of a first-version database is retained from the time of its storage, and its repos have no policy", async (t) => {
  const config = loadConfig(await emptyPlace(t));
  await makeFirst(config, [
    "insert into repos values ('r', 'g', 'app', '', 0, '[]', '', '[]', '[]', '{\"source\":\"registry.example.com/app\"}', 5, 6)",
    `insert into manifests values ('r', 'sha256:m', 't', ${ENGINE === "sqlite" ? "x'7b7d'" : "'\\x7b7d'"}, 2, '', '', '{}', 1700000000001)`,
    "insert into repo_blobs values ('r', 'sha256:b', 1700000000002)",
  ]);
  assert.deepEqual(await migrateInstallation(config, { check: false }), {
    found: 1,
    now: NEWEST_VERSION,
    newest: NEWEST_VERSION,
    pending: [],
  });
  const store = await openStore(config);
  try {
    const manifest = await store.reader
      .selectFrom("manifests")
      .select(["content", "create_time", "touch_time"])
      .executeTakeFirstOrThrow();
    assert.deepEqual(
      { ...manifest, content: Buffer.from(manifest.content).toString() },
      { content: "{}", create_time: 1_700_000_000_001, touch_time: 1_700_000_000_001 },
    );
    assert.deepEqual(
      { ...(await store.reader.selectFrom("repo_blobs").selectAll().executeTakeFirst()) },
      { repo: "r", digest: "sha256:b", create_time: 1_700_000_000_002, touch_time: 1_700_000_000_002 },
    );
    const { tag_policy, sync_config } = await store.reader
      .selectFrom("repos")
      .select(["tag_policy", "sync_config"])
      .executeTakeFirstOrThrow();
    assert.deepEqual([tag_policy, sync_config], [null, `{"source":"registry.example.com/app"}`]);
  } finally {
    await store.close();
  }
});

test("roles keep the capabilities whose numbers changed, and refresh tokens narrowed to those end", async (t) => {
  const config = loadConfig(await emptyPlace(t));
  const role = (uid: string, capabilities: number[]) =>
    `insert into roles values ('${uid}', 'g', '${uid}', '', '${JSON.stringify(capabilities)}', 5, 6)`;
  const refreshToken = (hash: string, caller: object) =>
    `insert into refresh_tokens values ('${hash}', 'f', 'i', '${JSON.stringify({ audiences: ["a"], ...caller })}', 7, null)`;
  await makeFirst(config, [
    role("both", [103, 1505, 1605, 2301]),
    role("audit", [2301]),
    role("events", [1505, 1605]),
    role("none", [103, 1605]),
    refreshToken("narrowed", { capabilities: [1605, 2301] }),
    refreshToken("kept", { capabilities: [1605] }),
    refreshToken("whole", { act: { sub: "1505" } }),
  ]);
  await migrateInstallation(config, { check: false });
  const store = await openStore(config);
  try {
    const roles = await store.reader.selectFrom("roles").select(["uid", "capabilities"]).orderBy("uid").execute();
    assert.deepEqual(
      roles.map(({ uid, capabilities }) => [uid, JSON.parse(capabilities)]),
      [
        ["audit", [9001]],
        ["both", [103, 1605, 9001, 9002]],
        ["events", [1605, 9002]],
        ["none", [103, 1605]],
      ],
    );
    const tokens = await store.reader.selectFrom("refresh_tokens").select("hash").orderBy("hash").execute();
    assert.deepEqual(
      tokens.map(({ hash }) => hash),
      ["kept", "whole"],
    );
  } finally {
    await store.close();
  }
});
