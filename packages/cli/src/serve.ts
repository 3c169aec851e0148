// `moorage serve`: the server in the foreground until SIGTERM or SIGINT.
import { resolve } from "node:path";
import type { Config, Workers } from "@moorage/server";
import type { Command } from "commander";
import { OWN_COMMAND } from "./own-command.ts";
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

/**
 * The last two lines of a first start: the link that signs the owner in, once, within ten minutes, and how to push.
 * Without a link its line says how to get one: the server runs all the same.
 */
async function firstSteps({ dataDir, registryAudience, registryUrl, organization }: Config): Promise<string> {
  const [{ platformToken }, { signInLink }] = await Promise.all([import("./caller.ts"), import("./sign-in-link.ts")]);
  const flag = resolve(dataDir) === resolve("data") ? "" : ` --data-dir ${quote(dataDir)}`;
  const place = registryUrl.startsWith("http:") ? `http://${registryAudience}` : registryUrl;
  // In a clone the README says so, and the line would not fit a terminal.
  const more = OWN_COMMAND === "moorage" ? ` # moorage hints${flag}` : "";
  const push = `Push: ${OWN_COMMAND} sample --push ${place}/${organization}/hello:1${flag}${more}\n`;
  try {
    const { url, token } = await platformToken({ kind: "data folder", url: undefined, dataDir });
    return `Sign in: ${await signInLink(url, token)}\n${push}`;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `Sign in: ${OWN_COMMAND} sign-in-link${flag} (${why})\n${push}`;
  }
}

async function serve(settings: Config): Promise<void> {
  const { endOnSignals, hasBootstrap, releaseMemoryWhenIdle, startServer, startWorkers } =
    await import("@moorage/server");
  // A log that something else reads has nothing but its lines.
  const wantsHints = process.stdout.isTTY && !hasBootstrap(settings.dataDir);
  const server: Pick<Workers, "config" | "close"> & { failed?: Promise<never> } =
    settings.workers > 1 ? await startWorkers(settings) : await startServer(settings);
  endOnSignals(server, settings.drainDelayMs);
  releaseMemoryWhenIdle();
  if (wantsHints) {
    process.stdout.write(await firstSteps(server.config));
  }
  try {
    await server.failed;
  } catch (error) {
    await server.close();
    throw error;
  }
}
