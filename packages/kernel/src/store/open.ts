import { chmodSync, closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { databasePath } from "../lib/database-path.ts";
import { makeFolder } from "../lib/make-folder.ts";
import { probeFolder } from "../lib/probe-folder.ts";
import { fileFault } from "../lib/storage-fault.ts";
import { describeDamage, isDamage } from "./damage.ts";
import { commitTogether, isBusy, type Work } from "./group-commit.ts";
import { MIGRATIONS, NEWEST_VERSION } from "./migrations.ts";
import { schemaFence } from "./schema-fence.ts";
import { connect, readingDatabase, sqliteDatabase } from "./sqlite.ts";
import { sqliteMeaning } from "./sqlite-faults.ts";
import { type Database, type Store, StoreError, type StoreSettings } from "./store.ts";
import { WATCHES_ROWS } from "./watched-rows.ts";
import { watchSqlite } from "./watched-sqlite.ts";

// The data folder:
//
//   <data>/moorage.db        the database (with -wal and -shm beside it while it is open)
//   <data>/moorage.lock      held by the installation that runs on the folder
//   <data>/bootstrap.json    tokens and uids of the first start, for people and scripts
//   <data>/blobs/, uploads/  see blobs/filesystem-layout.ts

/**
 * Locks the data folder for this process until `release`. The operating system releases the lock when the process ends,
 * however it ends. Throws a StoreError when another installation runs on the folder.
 */
export function lockDataDir(dataDir: string): { release(): void } {
  makeFolder(dataDir);
  requireWritable(dataDir);
  const lock = new DatabaseSync(join(dataDir, "moorage.lock"), { timeout: 0 });
  try {
    lock.exec("pragma locking_mode = exclusive; begin exclusive;");
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw sqliteMeaning(error, databasePath(dataDir));
    throw new StoreError(`data folder ${dataDir} is in use by another moorage`, { cause: error });
  }
  return { release: () => lock.close() };
}

/** A full disk is no reason not to start: what is there can still be pulled. */
function requireWritable(dataDir: string): void {
  try {
    probeFolder(dataDir);
  } catch (error) {
    if (fileFault(error) !== "full") throw error;
  }
}

/**
 * Migrates the database to the newest version, in one transaction. A new file is readable by its owner only. Throws a
 * StoreError for a database of a newer version than this program supports.
 */
export function migrate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
  const database = connect(path, { readOnly: false });
  try {
    database.exec("begin immediate");
    const found = database.prepare("pragma user_version").get() as { user_version: number };
    const newest = NEWEST_VERSION;
    if (found.user_version > newest) {
      throw new StoreError(
        `the data folder is of version ${found.user_version}, newer than this moorage, which knows ${newest}`,
      );
    }
    for (const migration of MIGRATIONS.filter(({ version }) => version > found.user_version)) {
      for (const statement of migration.statements) database.exec(forSqlite(statement));
    }
    database.exec(`pragma user_version = ${newest}; commit`);
  } finally {
    database.close();
  }
}

function forSqlite(statement: string): string {
  return statement
    .replace(/\bKEY\b/g, "text")
    .replace(/\bINT8\b/g, "integer")
    .replace(/\bBYTES\b/g, "blob")
    .replace(/\bWITHOUT_ROWID\b/g, "without rowid")
    .replace(/\bSERIAL8\b/g, "integer primary key autoincrement");
}

/** A read-only connection: statements see what is committed. */
export function openReader(path: string, events: Pick<StoreSettings, "onDamage" | "onFault"> = {}): Database {
  return readingDatabase(() => connect(path, { readOnly: true }), {
    ...events,
    meaningOf: (error) => sqliteMeaning(error, path),
  });
}

/** A connection that writes. */
export interface OpenWriter {
  db: Database;
  /** The raw connection, to open and close transactions. */
  raw: DatabaseSync;
  /** To be called first in each transaction: throws UNAVAILABLE when another program has migrated the file. */
  fence(): void;
}

/**
 * Opens a connection that writes. `waits`: whether it waits for a lock as SQLite does by itself; the waiting of
 * `commitTogether` is fairer.
 */
export function openWriter(path: string, { waits = true } = {}): OpenWriter {
  const raw = connect(path, { readOnly: false });
  // Frequently changed pages are written to the database file less often: a third less work for small commits, for a
  // log of up to 32 MiB.
  raw.exec("pragma wal_autocheckpoint = 8000");
  if (!waits) raw.exec("pragma busy_timeout = 0");
  const db = sqliteDatabase(raw);
  if (WATCHES_ROWS) watchSqlite(db, raw);
  return { db, raw, fence: schemaFence(raw) };
}

/** The store of the data folder. `migrate` creates its file. */
function openSqliteStore({ dataDir, ...events }: Pick<StoreSettings, "dataDir" | "onDamage" | "onFault">): Store {
  const path = databasePath(dataDir);
  let reader: Database | undefined;
  let writer: OpenWriter | undefined;
  // One transaction after another: there is a single connection.
  let last: Promise<unknown> = Promise.resolve();
  const transact = async <T>(work: (tx: Database) => Promise<T>, isDryRun: boolean): Promise<T> => {
    const { db, raw, fence } = (writer ??= openWriter(path, { waits: false }));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    // The value is the result of `work`.
    const settle: Work["settle"] = (result) => ("error" in result ? reject(result.error) : resolve(result.value as T));
    await commitTogether(db, raw, [{ run: work, isDryRun, settle }], fence);
    return promise;
  };
  return {
    engine: "sqlite",
    get reader() {
      return (reader ??= openReader(path, events));
    },
    transact(work, { isDryRun = false } = {}) {
      const done = last.then(() => transact(work, isDryRun));
      last = done.catch(() => {});
      return done;
    },
    version: async () => (existsSync(path) ? namingFile(path, () => versionOf(path)) : 0),
    migrate: async () => namingFile(path, () => migrate(path)),
    async close() {
      await last;
      await writer?.db.destroy();
      await reader?.destroy();
    },
  };
}

/** Throws a StoreError that names a damaged file and what to do, or the fault that an error stands for. */
function namingFile<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const meaning = sqliteMeaning(error, path);
    throw isDamage(meaning) ? new StoreError(describeDamage(path), { cause: error }) : meaning;
  }
}

function versionOf(path: string): number {
  const database = connect(path, { readOnly: true });
  try {
    return (database.prepare("pragma user_version").get() as { user_version: number }).user_version;
  } finally {
    database.close();
  }
}

/** The store that the settings name. Does not wait until the database server can be reached. */
export async function openStore(settings: StoreSettings): Promise<Store> {
  if (settings.databaseUrl === "") return openSqliteStore(settings);
  const { openPostgresStore } = await import("./postgres.ts");
  return openPostgresStore(settings);
}
