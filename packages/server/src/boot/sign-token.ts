import { existsSync } from "node:fs";
import { type Config, ConfigError } from "@moorage/kernel/config";
import { signingKeyAt } from "@moorage/kernel/signing/keys";
import { ACCESS_TYP, MAX_TOKEN_TTL_MS, signToken as sign } from "@moorage/kernel/signing/sign";
import { readBootstrap } from "../installation/bootstrap-file.ts";
import { readSigningData } from "./signing-data.ts";

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
  const { dataDir } = config;
  // The class of the error is loaded for an error alone: most of the time there is none.
  const failure = async (message: string, options?: ErrorOptions): Promise<Error> =>
    new (await import("@moorage/kernel/store")).StoreError(message, options);
  if (ttlMs > MAX_TOKEN_TTL_MS) throw await failure("a token lives at most an hour");
  if (!existsSync(dataDir))
    throw await failure(`there is no data folder ${dataDir}: start the server once, or name the folder`);
  let wrong: string;
  try {
    const { baseUrl, registryUrl, identity: owner } = readBootstrap(dataDir);
    const subject = identity ?? owner.uid;
    const { hasIdentity, keys } = await readSigningData(config, subject);
    const audiences = { platform: baseUrl, registry: new URL(registryUrl).host };
    const aud = audience === "platform" || audience === "registry" ? audiences[audience] : audience;
    if (!hasIdentity) wrong = `there is no identity ${subject}`;
    else if (!Object.values(audiences).includes(aud))
      wrong = `${aud} is not an audience of this installation: ${Object.values(audiences).join(" or ")}`;
    else {
      const nowMs = Date.now();
      const signing = { typ: ACCESS_TYP, issuer: baseUrl, subject, audiences: [aud], ttlMs, nowMs };
      const { token, expiresAtMs } = sign(signingKeyAt(keys, nowMs), signing);
      return { token, expiresAtMs };
    }
  } catch (error) {
    const { StoreError } = await import("@moorage/kernel/store");
    if (error instanceof StoreError || error instanceof ConfigError) throw error;
    throw await failure(
      `cannot read the data folder ${dataDir}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  throw await failure(wrong);
}
