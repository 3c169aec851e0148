import { resolve } from "node:path";
import { type Config, settingError } from "@moorage/kernel/config";
import { systemCall } from "@moorage/kernel/core/system-call";
import { describeFolderFault } from "@moorage/kernel/lib/folder-fault";
import { createSecrets, SecretError, type Secrets } from "@moorage/kernel/lib/secrets";
import { lockDataDir, openStore, type Store, StoreError } from "@moorage/kernel/store";
import { releaseLeases } from "@moorage/platform/events";
import { ensureInstallation, type Installation } from "./bootstrap.ts";
import { openCall } from "../runtime/open-call.ts";
import { secretKeysOf } from "./secret-keys.ts";

/** An installation whose secrets the configured keys can open. */
export interface OpenedInstallation {
  installation: Installation;
  secretKeys: readonly Uint8Array[];
  secrets: Secrets;
}

/**
 * Opens the installation in the database, and creates it when the database is empty. The schema must exist. Throws a
 * ConfigError when the secret key does not fit.
 */
export async function openInstallation(store: Store, settings: Config, nowMs: number): Promise<OpenedInstallation> {
  const secretKeys = await secretKeysOf(settings, store);
  const secrets = createSecrets(secretKeys);
  try {
    return { installation: await ensureInstallation(store, secrets, settings, nowMs), secretKeys, secrets };
  } catch (error) {
    throw error instanceof SecretError ? settingError("secretKeys", error.message, { cause: error }) : error;
  }
}

/**
 * Brings the database to the newest version. On SQLite, which no other process has open, it also releases the leases of
 * processes that have ended.
 */
export async function bringUp(store: Store, nowMs: number): Promise<void> {
  await store.migrate();
  if (store.engine !== "sqlite") return;
  await store.transact((tx) => releaseLeases.run(openCall(systemCall(nowMs), tx), {}, undefined));
}

/** Locks the data folder for this process. Throws a ConfigError when the folder itself cannot be used. */
export function takeDataDir(dataDir: string): { release(): void } {
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw settingError("dataDir", `cannot use ${resolve(dataDir)}: ${describeFolderFault(error)}`, { cause: error });
  }
}

/**
 * Prepares the installation once for all processes that will serve it: locks the data folder, brings the database to
 * the newest version, and creates what an empty one lacks, including the secret key's file. The lock is held until
 * `release`.
 */
export async function prepareInstallation(
  settings: Config,
  nowMs: number,
): Promise<{ installation: Installation; release(): void }> {
  const lock = takeDataDir(settings.dataDir);
  try {
    const store = await openStore(settings);
    try {
      await bringUp(store, nowMs);
      return {
        installation: (await openInstallation(store, settings, nowMs)).installation,
        release: () => lock.release(),
      };
    } finally {
      await store.close();
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}
