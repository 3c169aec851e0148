import { existsSync } from "node:fs";
import { createKeyring, createTokens, loadKeys, MAX_TOKEN_TTL_MS } from "./access/index.ts";
import { readBootstrap } from "./bootstrap.ts";
import { databasePath, openReader, StoreError } from "./store/index.ts";

export interface SignTokenRequest {
  dataDir: string;
  /** `platform`, `registry`, or the audience itself. */
  audience: string;
  /** Whose token; absent: the owner made at the first start. */
  identity?: string | undefined;
  /** Milliseconds; an hour at most. */
  ttlMs: number;
}

/** A token signed with the key in the data folder, with or without a running server. Throws a StoreError that says what is missing. */
export async function signToken({ dataDir, audience, identity, ttlMs }: SignTokenRequest): Promise<{ token: string; expiresAtMs: number }> {
  if (ttlMs > MAX_TOKEN_TTL_MS) throw new StoreError("a token lives at most an hour");
  if (!existsSync(dataDir)) throw new StoreError(`there is no data folder ${dataDir}: start the server once, or name the folder`);
  try {
    const bootstrap = readBootstrap(dataDir);
    const reader = openReader(databasePath(dataDir));
    try {
      const uid = identity ?? bootstrap.identity.uid;
      const known = await reader.selectFrom("identities").select("uid").where("uid", "=", uid).executeTakeFirst();
      if (known === undefined) throw new StoreError(`there is no identity ${uid}`);
      const audiences = { platform: bootstrap.baseUrl, registry: new URL(bootstrap.registryUrl).host };
      const aud = audience === "platform" || audience === "registry" ? audiences[audience] : audience;
      if (!Object.values(audiences).includes(aud)) throw new StoreError(`${aud} is not an audience of this installation: ${Object.values(audiences).join(" or ")}`);
      const tokens = createTokens({ issuer: bootstrap.baseUrl, keyring: createKeyring(() => loadKeys(reader)) });
      const { token, expiresAtMs } = await tokens.mint({ type: "access", identity: uid, audiences: [aud], ttlMs, nowMs: Date.now() });
      return { token, expiresAtMs };
    } finally {
      await reader.destroy();
    }
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError(`cannot read the data folder ${dataDir}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
