// `moorage import`: loads an export into an empty installation, with any database and blob store of the settings.
import { resolve } from "node:path";
import type { Command } from "commander";
import { bytesText } from "./output/sizes.ts";
import { addSettings, type FlagValues, namesPlace } from "./settings.ts";
import { withProgress } from "./terminal/progress.ts";

/** Adds `moorage import`. */
export function addImport(program: Command): void {
  const command = program
    .command("import")
    .description("bring an export into an empty installation")
    .argument("<folder>", "the export's");
  const configOf = addSettings(command, namesPlace);
  command.action(async (folder: string, values: FlagValues) => {
    const { importInstallation } = await import("@moorage/server");
    const config = await configOf(values);
    const { tables, blobs } = await withProgress(
      "no server starts on it until the same command has been run to its end",
      (report) => importInstallation(config, resolve(folder), report),
    );
    const rows = Object.values(tables).reduce((sum, table) => sum + table.rows, 0);
    console.log(
      `imported ${rows} rows and ${blobs.count} blobs (${bytesText(blobs.bytes)}); counts and digests are those of the export`,
    );
  });
}
