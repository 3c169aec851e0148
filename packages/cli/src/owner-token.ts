// Tokens signed with the key in a data folder of this machine.
import type { Config } from "@moorage/server";

/** The claims to sign; without `identity` the token is for the owner that the first start created. */
export interface OwnTokenRequest {
  dataDir: string;
  audience: string;
  identity?: string | undefined;
  ttlMs: number;
}

/**
 * Signs a token with the settings of the environment and that data folder. Throws an Error that says what is missing.
 */
export async function signOwnToken({ dataDir, ...request }: OwnTokenRequest): Promise<string> {
  const [{ signToken }, config] = [await import("@moorage/server/sign-token"), await configOf(dataDir)];
  return (await signToken({ config, ...request })).token;
}

async function configOf(dataDir: string): Promise<Config> {
  const { knownVariables, loadConfig } = await import("@moorage/kernel/config");
  return loadConfig(knownVariables(process.env), { MOORAGE_DATA_DIR: dataDir });
}
