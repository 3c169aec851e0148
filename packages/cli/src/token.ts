// `moorage token`: a token signed from the data folder, with or without a running server.
import type { Command } from "commander";
import { dataDirOf, signOwnToken } from "./owner-token.ts";

/** Adds `moorage token`. It prints only the token, for use as `$(moorage token)`. */
export function addToken(program: Command): void {
  program
    .command("token")
    .description("print a token, signed with the key in the data folder")
    .option("--audience <audience>", "platform, registry, or the URL the token is for", "platform")
    .option("--identity <uid>", "whose token; default: the owner made at the first start")
    .option("--ttl <duration>", "how long it lives, such as 90s, 15m or 1h; at most 1h", "1h")
    .option("--data-dir <folder>", "data folder of the server (MOORAGE_DATA_DIR, default ./data)")
    .action(
      async ({
        audience,
        identity,
        ttl,
        dataDir,
      }: {
        audience: string;
        identity?: string;
        ttl: string;
        dataDir?: string;
      }) => {
        const { parseDuration } = await import("@moorage/server/config");
        const ttlMs = parseDuration(ttl);
        if (ttlMs === undefined || ttlMs <= 0)
          throw new Error(`--ttl: must be a duration such as 90s, 15m or 1h, not ${ttl}`);
        console.log(await signOwnToken({ dataDir: dataDirOf(dataDir), audience, ttlMs, identity }));
      },
    );
}
