import { createSecrets, SecretError, type Secrets } from "../lib/secrets.ts";
import { ensureInstallation, type Installation } from "./bootstrap.ts";
import { openCall } from "../runtime/open-call.ts";
import { type Config, settingError } from "../config/index.ts";
import { releaseLeases } from "../events/index.ts";
import { secretKeysOf } from "./secret-keys.ts";
import { lockDataDir, openStore, type Store, StoreError } from "../store/index.ts";
import { systemCall } from "../core/system-call.ts";

/** An installation whose secrets can be opened. */
export interface OpenedInstallation {
  installation: Installation;
  secretKeys: readonly Uint8Array[];
  secrets: Secrets;
}

/**
 * What the program needs to know of its installation; what an empty database lacks is made. The schema must be there.
 * Throws a ConfigError when the secret key does not fit.
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
 * Brings the database to the newest version. In one that nobody else can have open, what ended processes held is free
 * at once.
 */
export async function bringUp(store: Store, nowMs: number): Promise<void> {
  await store.migrate();
  if (store.engine !== "sqlite") return;
  await store.transact((tx) => releaseLeases.run(openCall(systemCall(nowMs), tx), {}, undefined));
}

/** Takes the data folder for this process. What is wrong with the folder itself is told as its setting's fault. */
export function takeDataDir(dataDir: string): { release(): void } {
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw settingError("dataDir", `cannot use ${dataDir}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * What one process does for all that are to serve: takes the data folder, brings the database to the newest version,
 * and makes what an empty one lacks, the secret key's file included. The folder is this process's until `release`.
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
