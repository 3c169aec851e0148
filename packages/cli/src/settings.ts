import { type Config, flagOf, loadConfig, SETTINGS } from "@moorage/server";
import { Option, type Command } from "commander";

/** Values of flags, by the attribute that commander names them with. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** The settings that say where an installation is and how it is reached. */
export function namesPlace(name: string): boolean {
  return /^MOORAGE_(?:DATA_DIR|DATABASE_.*|BLOBS_URL|SECRET_KEY)$/.test(name);
}

/**
 * Adds a flag for each of the settings (`MOORAGE_DATA_DIR` is `--data-dir`); a flag wins over the environment. Answers
 * how the settings are read.
 */
export function addSettings(
  command: Command,
  wanted: (name: string) => boolean = () => true,
): (values: FlagValues) => Config {
  const options = SETTINGS.filter(({ name }) => wanted(name)).map(({ name, fallback, help }) => {
    const option = new Option(
      `${flagOf({ name })} <value>`,
      `${help} (${name}${fallback === "" ? "" : `, default ${fallback}`})`,
    );
    command.addOption(option);
    return { name, option };
  });
  return (values) =>
    loadConfig(
      process.env,
      Object.fromEntries(
        options.map(({ name, option }) => [name, values[option.attributeName()] as string | undefined]),
      ),
    );
}
