import { createHash } from "node:crypto";
import { copyFileSync, existsSync } from "node:fs";
import pg from "pg";
import { loadConfig } from "../../src/index.ts";
import {
  type Database,
  databasePath,
  openStore,
  openWriter,
  type Store,
  type StoreSettings,
} from "../../../kernel/src/store/index.ts";

// The engine under test. `npm test` runs the suites on SQLite and then, with MOORAGE_TEST_POSTGRES_URL set, on
// PostgreSQL: every data folder has a database of its own there, named after the folder.

const ADMIN_URL = process.env.MOORAGE_TEST_POSTGRES_URL ?? "";
export const ENGINE: "sqlite" | "postgres" = ADMIN_URL === "" ? "sqlite" : "postgres";

const TEMPLATE = "moorage_template";
/** An empty, migrated database of SQLite, which `npm test` makes; empty where a test file runs by itself. */
const SQLITE_TEMPLATE = process.env.MOORAGE_TEST_SQLITE_TEMPLATE ?? "";

/** The settings of the data folder's database, which is made when it is not there. */
export async function databaseEnv(dataDir: string): Promise<Record<string, string>> {
  if (ENGINE === "sqlite") return {};
  const url = new URL(ADMIN_URL);
  url.pathname = `/${nameOf(dataDir)}`;
  await asAdmin(async (client) => {
    const { rows } = await client.query<{ isThere: boolean; copiesFiles: boolean }>(
      `select exists (select from pg_database where datname = $1) as "isThere",
        current_setting('server_version_num')::int >= 150000
          and current_setting('data_directory') like '/dev/shm/%' as "copiesFiles"`,
      [nameOf(dataDir)],
    );
    const [{ isThere = false, copiesFiles = false } = {}] = rows;
    // Since PostgreSQL 15 all pages go through its log, which takes twice the processor time of files in memory.
    const strategy = copiesFiles ? "strategy file_copy" : "";
    if (!isThere) await client.query(`create database ${nameOf(dataDir)} template ${TEMPLATE} ${strategy}`);
  });
  return { MOORAGE_DATABASE_URL: url.href, MOORAGE_DATABASE_POOL_SIZE: "4" };
}

/**
 * Copies the template to a new data folder, so that a server need not migrate each file of SQLite from the beginning:
 * for servers of tests that are not about that. A folder that has a database keeps it.
 */
export function beginMigrated(dataDir: string): void {
  const path = databasePath(dataDir);
  if (ENGINE !== "sqlite" || SQLITE_TEMPLATE === "" || !existsSync(dataDir) || existsSync(path)) return;
  copyFileSync(SQLITE_TEMPLATE, path);
}

/** Makes the template of SQLite in a folder. Returns its path. */
export async function prepareSqliteTemplate(folder: string): Promise<string> {
  const store = await openStore(loadConfig({ MOORAGE_DATA_DIR: folder }));
  await store.migrate();
  await store.close();
  return databasePath(folder);
}

/** Removes the data folder's database. */
export async function dropDatabase(dataDir: string): Promise<void> {
  if (ENGINE === "sqlite") return;
  await asAdmin((client) => client.query(`drop database if exists ${nameOf(dataDir)} with (force)`));
}

/**
 * The data folder's database, migrated: its store, and a connection that a test may write to outside of transactions.
 */
export async function openTestStore(
  dataDir: string,
  settings: Pick<StoreSettings, "onRetry" | "databaseIdleMs"> = {},
): Promise<{ store: Store; db: Database; close(): Promise<void> }> {
  const store = await openStore({
    ...loadConfig({ MOORAGE_DATA_DIR: dataDir, ...(await databaseEnv(dataDir)) }),
    ...settings,
  });
  await store.migrate();
  const { db, close: closeDb } = openForWriting(dataDir, store);
  const close = async (): Promise<void> => {
    await closeDb();
    await store.close();
  };
  return { store, db, close };
}

/** A connection to the data folder's database that a test may write to outside of transactions. */
export function openForWriting(dataDir: string, { reader }: Store): { db: Database; close(): Promise<void> } {
  if (ENGINE === "postgres") return { db: reader, close: async () => {} };
  const { db } = openWriter(databasePath(dataDir));
  return { db, close: () => db.destroy() };
}

/** Makes the migrated database that all others are copies of. Once for a server; answers the server's version. */
export async function prepareTemplate(): Promise<string> {
  const { rows } = await asAdmin(async (client) => {
    await client.query(`create database ${TEMPLATE}`);
    return client.query<{ server_version: string }>("show server_version");
  });
  const url = new URL(ADMIN_URL);
  url.pathname = `/${TEMPLATE}`;
  const store = await openStore(loadConfig({ MOORAGE_DATABASE_URL: url.href }));
  await store.migrate();
  await store.close();
  return rows[0]?.server_version ?? "";
}

function nameOf(dataDir: string): string {
  return `t_${createHash("sha256").update(dataDir).digest("hex").slice(0, 24)}`;
}

async function asAdmin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: ADMIN_URL,
    connectionTimeoutMillis: 10_000,
    statement_timeout: 60_000,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
