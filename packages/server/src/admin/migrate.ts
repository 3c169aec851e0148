import { mkdirSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Config } from "@moorage/kernel/config";
import { migrationsAfter, NEWEST_VERSION, type Store, StoreError } from "@moorage/kernel/store";
import { takeDataDir } from "../installation/open.ts";
import { openStoreForLongStatements } from "../installation/stores.ts";

/** Versions of the schema: before and after, and the one that this program works with. */
export interface Migrated {
  found: number;
  now: number;
  newest: number;
  /** The migrations that are still to be done, by their names. */
  pending: { version: number; name: string }[];
}

const LOCK_ATTEMPTS = 50;
const LOCK_PAUSE_MS = 100;

/**
 * Brings the database to the newest version, as a start of the server does; with `check` it only reads the version.
 * Several processes may do it concurrently. Throws a StoreError for a database of a newer version, and when an embedded
 * server of an older version runs on the data folder.
 */
export async function migrateInstallation(config: Config, { check }: { check: boolean }): Promise<Migrated> {
  const store = await openStoreForLongStatements(config);
  try {
    const found = await store.version();
    if (found > NEWEST_VERSION)
      throw new StoreError(
        `the database is of version ${found}, newer than this moorage, which knows ${NEWEST_VERSION}`,
      );
    if (check || found === NEWEST_VERSION)
      return { found, now: found, newest: NEWEST_VERSION, pending: migrationsAfter(found) };
    await (store.engine === "sqlite" ? migrateAlone(store, config) : store.migrate());
    const now = await store.version();
    return { found, now, newest: NEWEST_VERSION, pending: migrationsAfter(now) };
  } finally {
    await store.close();
  }
}

// The folder's lock keeps a server from starting meanwhile, and a running server's database is not migrated.
async function migrateAlone(store: Store, { dataDir }: Config): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = await lockWithRetries(dataDir);
  try {
    await store.migrate();
  } finally {
    lock.release();
  }
}

/** Retries for a while: another migration ends soon, a server does not. */
async function lockWithRetries(dataDir: string): Promise<{ release(): void }> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return takeDataDir(dataDir);
    } catch (error) {
      if (!(error instanceof StoreError) || attempt === LOCK_ATTEMPTS) throw error;
      await wait(LOCK_PAUSE_MS);
    }
  }
}
