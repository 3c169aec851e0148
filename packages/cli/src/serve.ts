// `moorage serve`: the server in the foreground until SIGTERM or SIGINT.
import type { Config, Workers } from "@moorage/server";
import type { Command } from "commander";
import { OWN_COMMAND } from "./own-command.ts";
import { hintsFor } from "./hints.ts";
import { quote } from "./shell.ts";
import { addSettings, type FlagValues } from "./settings.ts";

/** Adds `moorage serve`, with a flag for every setting. */
export function addServe(program: Command): void {
  const command = program
    .command("serve")
    .description("run the server; settings come from flags or from the environment");
  const configOf = addSettings(command);
  command.action(async (values: FlagValues) => serve(await configOf(values)));
}

/** The way into the console at a first start. Without a link the hints remain: the server runs all the same. */
async function firstLink({ dataDir }: Config): Promise<string> {
  const [{ platformToken }, { signInLink }] = await Promise.all([import("./caller.ts"), import("./sign-in-link.ts")]);
  const again = `${OWN_COMMAND} sign-in-link --data-dir ${quote(dataDir)}`;
  try {
    const { url, token } = await platformToken({ kind: "data folder", url: undefined, dataDir });
    const link = await signInLink(url, token);
    return `\nOpen this address to sign in as the owner. It is good once, for ten minutes:\n  ${link}\nFor another one: ${again}\n`;
  } catch (error) {
    return `\nTo sign in with a browser: ${again} (${error instanceof Error ? error.message : String(error)})\n`;
  }
}

async function serve(settings: Config): Promise<void> {
  const { endOnSignals, hasBootstrap, releaseMemory, startServer, startWorkers } = await import("@moorage/server");
  // A log that something else reads has nothing but its lines.
  const wantsHints = process.stdout.isTTY && !hasBootstrap(settings.dataDir);
  const server: Pick<Workers, "config" | "close"> & { failed?: Promise<never> } =
    settings.workers > 1 ? await startWorkers(settings) : await startServer(settings);
  endOnSignals(server, settings.drainDelayMs);
  releaseMemory();
  if (wantsHints) {
    process.stdout.write(await firstLink(server.config));
    process.stdout.write(await hintsFor(server.config));
  }
  try {
    await server.failed;
  } catch (error) {
    await server.close();
    throw error;
  }
}
