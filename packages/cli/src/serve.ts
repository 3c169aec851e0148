// `moorage serve`: the server in the foreground until SIGTERM or SIGINT.
import { loadConfig, readBootstrap, SETTINGS, startServer, startWorkers, type Workers } from "@moorage/server";
import { Option, type Command } from "commander";
import { findClients } from "./clients.ts";
import { hints } from "./hints.ts";

/** Adds `moorage serve`, with a flag for every setting (`MOORAGE_DATA_DIR` is `--data-dir`); a flag wins over the environment. */
export function addServe(program: Command): void {
  const command = program.command("serve").description("run the server; settings come from flags or from the environment");
  const options = SETTINGS.map(({ name, fallback, help }) => {
    const flag = name.replace(/^MOORAGE_/, "").toLowerCase().replaceAll("_", "-");
    const option = new Option(`--${flag} <value>`, `${help} (${name}${fallback === "" ? "" : `, default ${fallback}`})`);
    command.addOption(option);
    return { name, option };
  });
  command.action(async (values: Readonly<Record<string, string>>) => {
    await serve(Object.fromEntries(options.map(({ name, option }) => [name, values[option.attributeName()]])));
  });
}

async function serve(overrides: Record<string, string | undefined>): Promise<void> {
  const settings = loadConfig(process.env, overrides);
  const server: Pick<Workers, "config" | "close"> & { failed?: Promise<never> } = settings.workers > 1 ? await startWorkers(settings) : await startServer(settings);
  const { promise: signalled, resolve: stop } = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop());
  process.stdout.write(hints({
    config: server.config,
    bootstrap: readBootstrap(server.config.dataDir),
    clients: findClients(process.env.PATH ?? ""),
    folder: process.cwd(),
  }));
  try {
    await Promise.race([signalled, ...(server.failed ? [server.failed] : [])]);
  } finally {
    await server.close();
  }
  process.exit(0); // what a library may still keep open must not hold the process
}
