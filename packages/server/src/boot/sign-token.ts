import { existsSync } from "node:fs";
import { createKeyring, createTokens, loadKeys, MAX_TOKEN_TTL_MS } from "../auth/index.ts";
import { createSecrets } from "../lib/secrets.ts";
import { readBootstrap } from "../installation/bootstrap-file.ts";
import { type Config, ConfigError } from "../config/index.ts";
import { secretKeysOf } from "../installation/secret-keys.ts";
import { openStore, StoreError } from "../store/index.ts";

export interface SignTokenRequest {
  config: Config;
  /** `platform`, `registry`, or the audience itself. */
  audience: string;
  /** The token's subject. Defaults to the owner created at the first start. */
  identity?: string | undefined;
  /** Milliseconds; at most an hour. */
  ttlMs: number;
}

/**
 * Signs a token with the key in the database, with or without a running server. The URLs are those of the last start on
 * the data folder. Throws a StoreError that says what is missing.
 */
export async function signToken({
  config,
  audience,
  identity,
  ttlMs,
}: SignTokenRequest): Promise<{ token: string; expiresAtMs: number }> {
  if (ttlMs > MAX_TOKEN_TTL_MS) throw new StoreError("a token lives at most an hour");
  const { dataDir } = config;
  if (!existsSync(dataDir))
    throw new StoreError(`there is no data folder ${dataDir}: start the server once, or name the folder`);
  try {
    const bootstrap = readBootstrap(dataDir);
    const store = await openStore(config);
    const { reader } = store;
    try {
      const uid = identity ?? bootstrap.identity.uid;
      const known = await reader.selectFrom("identities").select("uid").where("uid", "=", uid).executeTakeFirst();
      if (known === undefined) throw new StoreError(`there is no identity ${uid}`);
      const audiences = { platform: bootstrap.baseUrl, registry: new URL(bootstrap.registryUrl).host };
      const aud = audience === "platform" || audience === "registry" ? audiences[audience] : audience;
      if (!Object.values(audiences).includes(aud))
        throw new StoreError(
          `${aud} is not an audience of this installation: ${Object.values(audiences).join(" or ")}`,
        );
      const secrets = createSecrets(await secretKeysOf(config, store));
      const tokens = createTokens({
        issuer: bootstrap.baseUrl,
        keyring: createKeyring(() => loadKeys(reader, secrets)),
      });
      const { token, expiresAtMs } = await tokens.mint({
        type: "access",
        identity: uid,
        audiences: [aud],
        ttlMs,
        nowMs: Date.now(),
      });
      return { token, expiresAtMs };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreError || error instanceof ConfigError) throw error;
    throw new StoreError(
      `cannot read the data folder ${dataDir}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}
