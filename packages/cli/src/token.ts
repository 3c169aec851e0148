// `moorage token`: an access token, of a sign-in, or signed from the data folder, with or without a running server.
import type { Command } from "commander";
import { originOf, platformToken } from "./caller.ts";
import { addServerOptions, type ServerFlags } from "./command/global-options.ts";

interface TokenFlags extends ServerFlags {
  audience: string;
  identity?: string;
  ttl?: string;
}

// What is printed is used a moment later, for a log-in for example.
const SPARE_MS = 300_000;
const DEFAULT_TTL = "1h";

/** Adds `moorage token`. It prints only the token, for use as `$(moorage token)`. */
export function addToken(program: Command): void {
  addServerOptions(
    program
      .command("token")
      .description("print an access token: of your sign-in, or signed with the key in the data folder")
      .option("--audience <audience>", "platform, registry, or the URL the token is for", "platform")
      .option("--identity <uid>", "with a data folder: whose token; default: the owner made at the first start")
      .option(
        "--ttl <duration>",
        `with a data folder: how long it lives, such as 90s, 15m or 1h; at most ${DEFAULT_TTL}`,
      ),
  ).action(async (flags: TokenFlags) => console.log(await tokenOf(flags)));
}

async function tokenOf({ audience, identity, ttl, ...flags }: TokenFlags): Promise<string> {
  const origin = await originOf(flags);
  if (origin.kind === "data folder") return signed(origin.dataDir, audience, identity, ttl ?? DEFAULT_TTL);
  for (const [name, value] of Object.entries({ identity, ttl }))
    if (value !== undefined)
      throw new Error(`--${name}: is for the data folder of a server; the token of ${origin.url} stays as it is`);
  const { url, token } = await platformToken(origin, SPARE_MS);
  if (audience === "platform") return token;
  const [{ endpointsOf, tradeToken }, { registryHost }] = await Promise.all([
    import("./oauth.ts"),
    import("./registry-host.ts"),
  ]);
  const wanted = audience === "registry" ? await registryHost(url) : audience;
  return tradeToken((await endpointsOf(url)).token, token, wanted);
}

async function signed(dataDir: string, audience: string, identity: string | undefined, ttl: string): Promise<string> {
  const [{ parseDuration }, { signOwnToken }] = await Promise.all([
    import("@moorage/kernel/config"),
    import("./owner-token.ts"),
  ]);
  const ttlMs = parseDuration(ttl);
  if (ttlMs === undefined || ttlMs <= 0)
    throw new Error(`--ttl: must be a duration such as 90s, 15m or 1h, not ${ttl}`);
  return signOwnToken({ dataDir, audience, ttlMs, identity });
}
