import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { type BlobStore, BlobsUrlError, openBlobs } from "../blobs/index.ts";
import { type Config, settingError } from "../config/index.ts";
import type { Writer } from "../runtime/sqlite-transactor.ts";
import { openTransactor } from "../runtime/transactor.ts";
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
    throw error instanceof BlobsUrlError ? settingError("blobsUrl", error.message, { cause: error }) : error;
  }
}

/**
 * A transactor for commands alone, which seal nothing, give out no page tokens and know no methods: it needs none of the
 * installation's keys. `onFault` is told when its writing thread dies.
 */
export function openCommandWriter(
  store: Store,
  { dataDir, eventsPrefix }: Pick<Config, "dataDir" | "eventsPrefix">,
  onFault: (error: Error) => void,
): Promise<Writer> {
  return openTransactor(store, {
    dataDir,
    eventsPrefix,
    methods: new Map(),
    pageTokenKey: randomBytes(32),
    ownerRole: "",
    admins: [],
    secretKeys: [randomBytes(32)],
    onFault,
  });
}

/** Whether there is nothing in the folder, or no folder. */
export function isEmptyFolder(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).length === 0;
}
