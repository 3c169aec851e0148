import type { Config } from "@moorage/server";
import { type Command, Help, Option } from "commander";
import { completes, type Source } from "./command/completion-sources.ts";

/** Values of flags, by commander's attribute names. */
export type FlagValues = Readonly<Record<string, unknown>>;

// How the flags of a command's settings are added.
const addsFlags = new WeakMap<Command, () => Promise<void>>();

/** Adds the flags of the settings now, although the command does not run: for documents and completion's table. */
export async function addFlagsOfSettings(command: Command): Promise<void> {
  await addsFlags.get(command)?.();
}

/** Whether the setting says where an installation is or how to reach it. */
export function namesPlace(name: string): boolean {
  return /^MOORAGE_(?:DATA_DIR|DATABASE_.*|BLOBS_URL|SECRET_KEY)$/.test(name);
}

/**
 * Adds a flag for each of the settings (`MOORAGE_DATA_DIR` is `--data-dir`) if the command is the one that runs: the
 * settings are defined in the server, which is not loaded for other commands. A flag takes precedence over the
 * environment. Returns a function that reads the settings; from `env`, where that is given.
 */
export function addSettings(
  command: Command,
  wanted: (name: string) => boolean = () => true,
): (values: FlagValues, env?: Readonly<Record<string, string | undefined>>) => Promise<Config> {
  const options = new Map<string, Option>();
  const addFlags = async (): Promise<void> => {
    if (options.size > 0) return;
    const { flagOf, SETTINGS } = await import("@moorage/kernel/config");
    for (const { name, fallback, help } of SETTINGS.filter((setting) => wanted(setting.name))) {
      const option = new Option(
        `${flagOf({ name })} <value>`,
        `${help} (${name}${fallback === "" ? "" : `, default ${fallback}`})`,
      );
      command.addOption(completes(option, kindOfValue(name)));
      options.set(name, option);
    }
  };
  addsFlags.set(command, addFlags);
  command.parent?.hook("preSubcommand", async (_, chosen) => {
    if (chosen === command) await addFlags();
  });
  return async (values, env = process.env) => {
    const { loadConfig } = await import("@moorage/kernel/config");
    const flags = [...options].map(([name, option]) => [name, values[option.attributeName()] as string | undefined]);
    return loadConfig(env, Object.fromEntries(flags));
  };
}

function kindOfValue(name: string): Source {
  if (name.endsWith("_DIR")) return "folder";
  return /_FILE$|_TLS_(?:CERT|KEY)$/.test(name) ? "file" : "none";
}

/**
 * The entry of a command in the list of commands, which shows `[options]` for commands with settings, although their
 * flags are not added yet.
 */
export function commandTerm(command: Command): string {
  const term = new Help().subcommandTerm(command);
  return addsFlags.has(command) && command.options.length === 0
    ? term.replace(command.name(), `${command.name()} [options]`)
    : term;
}
