import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Config, settingError } from "@moorage/kernel/config";
import { makeFolder } from "@moorage/kernel/lib/make-folder";
import { isSealed } from "@moorage/kernel/lib/secrets";
import type { Store } from "@moorage/kernel/store";

/** The file with the secret key of an installation whose settings have none: base64, readable by its owner alone. */
export function secretKeyFile(dataDir: string): string {
  return join(dataDir, "secret.key");
}

/**
 * The keys that seal and open secrets in the database: those of the settings, otherwise the file's, which is created
 * when nothing is sealed yet. Throws a ConfigError when the file is missing or invalid.
 */
export async function secretKeysOf(
  { dataDir, secretKeys }: Pick<Config, "dataDir" | "secretKeys">,
  store: Store,
): Promise<readonly Uint8Array[]> {
  if (secretKeys.length > 0) return secretKeys;
  const file = secretKeyFile(dataDir);
  const found = readKeyFile(file);
  if (found !== undefined) return [found];
  if (await hasSealedSecrets(store)) {
    throw settingError(
      "secretKeys",
      `the secrets in the database are encrypted, and there is no ${file}: bring that file back, or set the key; all replicas need the same`,
    );
  }
  makeFolder(dataDir);
  return [makeKeyFile(file)];
}

/** The key in the file; undefined when there is no file. Throws a ConfigError when it has no valid key. */
export function readKeyFile(file: string): Uint8Array | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw settingError("secretKeys", `cannot read ${file}`, { cause });
  }
  const key = Buffer.from(text.trim(), "base64");
  if (key.length !== 32) throw settingError("secretKeys", `${file} does not hold 32 bytes in base64`);
  return key;
}

// The key must not be lost once something is sealed with it, so it is on disk before it is used.
function makeKeyFile(file: string): Uint8Array {
  const key = randomBytes(32);
  const fd = openSync(file, "wx", 0o600);
  try {
    writeSync(fd, `${key.toString("base64")}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return key;
}

/** Whether the database has sealed secrets. */
async function hasSealedSecrets(store: Store): Promise<boolean> {
  if ((await store.version()) === 0) return false;
  const row = await store.reader
    .selectFrom("installation")
    .select("value")
    .where("key", "=", "page_token_key")
    .executeTakeFirst();
  return row !== undefined && isSealed(row.value);
}
