// `moorage hints`: what to try next on a server of this machine.
import { resolve } from "node:path";
import type { Config } from "@moorage/server";
import type { Command } from "commander";
import { addSettings, type FlagValues, namesPlace } from "./settings.ts";

// The settings that change what the lines say.
const WANTED = new Set(["MOORAGE_HISTORY_SEGMENTS", "MOORAGE_FREE_TIER_TAGS", "MOORAGE_ALLOW_PRIVATE_NETWORK"]);

/** Adds `moorage hints`. */
export function addHints(program: Command): void {
  const command = program
    .command("hints")
    .description("print what to try next on the server of the data folder, as lines for a shell");
  const configOf = addSettings(command, (name) => namesPlace(name) || WANTED.has(name));
  command.action(async (values: FlagValues) => {
    process.stdout.write(await hintsFor(await configOf(values)));
  });
}

/** The text for the server that was last started on the data folder. Throws an Error when there was none. */
export async function hintsFor(config: Config): Promise<string> {
  const [{ hasBootstrap, readBootstrap }, { findClients }, { hints }] = await Promise.all([
    import("@moorage/server/bootstrap"),
    import("./clients.ts"),
    import("./hint-text.ts"),
  ]);
  const dataDir = resolve(config.dataDir);
  if (!hasBootstrap(dataDir))
    throw new Error(`there is no data folder ${dataDir}: start the server once, or name the folder`);
  const bootstrap = readBootstrap(dataDir);
  const { baseUrl, registryUrl } = bootstrap;
  return hints({
    config: { ...config, baseUrl, registryUrl, registryAudience: new URL(registryUrl).host },
    bootstrap,
    clients: findClients(process.env.PATH ?? ""),
    folder: process.cwd(),
  });
}
