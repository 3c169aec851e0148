import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Config } from "@moorage/kernel/config";
import { databasePath } from "@moorage/kernel/lib/database-path";
import { createSecrets } from "@moorage/kernel/lib/secrets";
import { keyOf, MAX_KEYS, SIGNING_ALGORITHM, type SigningKey, type StoredKey } from "@moorage/kernel/signing/keys";
import { readKeyFile, secretKeyFile, secretKeysOf } from "../installation/secret-keys.ts";

/** What is read of an installation to sign a token. */
export interface SigningData {
  hasIdentity: boolean;
  /** Newest first. Throws a SecretError for a key that was encrypted with another secret key. */
  keys: SigningKey[];
}

const BUSY_TIMEOUT_MS = 30_000;

/**
 * Reads it by two statements where the database is a file and its secret key is known, and otherwise with the server's
 * store, which takes some times as long to load as a token to sign.
 */
export async function readSigningData(config: Config, identity: string): Promise<SigningData> {
  const keys = knownKeys(config);
  const path = databasePath(config.dataDir);
  return config.databaseUrl === "" && keys.length > 0 && existsSync(path)
    ? await readFile(path, keys, identity)
    : await readStore(config, identity);
}

function knownKeys({ dataDir, secretKeys }: Config): readonly Uint8Array[] {
  if (secretKeys.length > 0) return secretKeys;
  const found = readKeyFile(secretKeyFile(dataDir));
  return found === undefined ? [] : [found];
}

async function readFile(path: string, secretKeys: readonly Uint8Array[], identity: string): Promise<SigningData> {
  let rows: StoredKey[];
  let hasIdentity: boolean;
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    try {
      hasIdentity = database.prepare("select 1 from identities where uid = ?").get(identity) !== undefined;
      const select = database.prepare(
        "select * from signing_keys where algorithm = ? order by create_time desc, kid limit ?",
      );
      // The columns of the table.
      rows = select.all(SIGNING_ALGORITHM, MAX_KEYS) as unknown as StoredKey[];
    } finally {
      database.close();
    }
  } catch (error) {
    const { sqliteMeaning } = await import("@moorage/kernel/store");
    throw sqliteMeaning(error, path);
  }
  const secrets = createSecrets(secretKeys);
  return { hasIdentity, keys: rows.map((row) => keyOf(row, secrets)) };
}

async function readStore(config: Config, identity: string): Promise<SigningData> {
  const [{ openStore }, { loadKeys }] = await Promise.all([
    import("@moorage/kernel/store"),
    import("@moorage/platform/auth"),
  ]);
  const store = await openStore(config);
  try {
    const { reader } = store;
    const known = await reader.selectFrom("identities").select("uid").where("uid", "=", identity).executeTakeFirst();
    const secrets = createSecrets(await secretKeysOf(config, store));
    return { hasIdentity: known !== undefined, keys: await loadKeys(reader, secrets) };
  } finally {
    await store.close();
  }
}
