import { existsSync, readdirSync } from "node:fs";
import { type BlobStore, BlobsUrlError, openBlobs } from "../blobs/index.ts";
import { type Config, ConfigError } from "../config.ts";
import { NEWEST_VERSION, openStore, type Store, StoreError } from "../store/index.ts";

// Counting a large table takes longer than any statement of a server may.
const STATEMENT_TIMEOUT_MS = 3_600_000;

/** The store of the settings, with time for long statements. */
export function openPatientStore(config: Config): Promise<Store> {
  return openStore({ ...config, databaseTimeoutMs: Math.max(config.databaseTimeoutMs, STATEMENT_TIMEOUT_MS) });
}

/** Throws a StoreError unless there is a database of the version that this program works with. */
export async function requireNewest(store: Store, { dataDir }: Config): Promise<void> {
  const version = await store.version();
  if (version === 0)
    throw new StoreError(
      store.engine === "sqlite"
        ? `there is no installation in ${dataDir}`
        : "there is no installation in this database",
    );
  if (version !== NEWEST_VERSION)
    throw new StoreError(
      `the database is of version ${version}, this moorage works with ${NEWEST_VERSION}: moorage migrate brings it up to date`,
    );
}

/** The blobs of the settings. Throws a ConfigError that names the setting. */
export async function openBlobsOf(config: Config): Promise<BlobStore> {
  try {
    return await openBlobs(config);
  } catch (error) {
    throw error instanceof BlobsUrlError
      ? new ConfigError(`MOORAGE_BLOBS_URL: ${error.message}`, { cause: error })
      : error;
  }
}

/** Whether there is nothing in the folder, or no folder. */
export function isEmptyFolder(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).length === 0;
}
