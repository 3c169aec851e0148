import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { type BlobStore, BlobsUrlError, openBlobs } from "@moorage/kernel/blobs";
import { type Config, settingError } from "@moorage/kernel/config";
import { NEWEST_VERSION, openStore, type Store, StoreError } from "@moorage/kernel/store";
import type { Writer } from "../runtime/sqlite-transactor.ts";
import { openTransactor } from "../runtime/transactor.ts";

// Counting a large table may take longer than any statement of a server.
const STATEMENT_TIMEOUT_MS = 3_600_000;

/** Opens the store of the settings with a long time-out for statements. */
export function openStoreForLongStatements(config: Config): Promise<Store> {
  return openStore({
    ...config,
    databaseTimeoutMs: Math.max(config.databaseTimeoutMs, STATEMENT_TIMEOUT_MS),
    databaseIdleMs: STATEMENT_TIMEOUT_MS,
  });
}

/** Throws a StoreError unless the database has the version that this program works with. */
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

/** Opens the blob store of the settings. Throws a ConfigError that names the setting. */
export async function openBlobsOf(config: Config): Promise<BlobStore> {
  try {
    return await openBlobs(config);
  } catch (error) {
    throw error instanceof BlobsUrlError ? settingError("blobsUrl", error.message, { cause: error }) : error;
  }
}

/**
 * A transactor for commands that seal nothing, issue no page tokens and call no methods, so that it needs none of the
 * installation's keys. `onFault` is called when its writer thread dies.
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

/** Whether the folder is empty or does not exist. */
export function isEmptyFolder(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).length === 0;
}
