// `moorage export`: writes a whole installation to a folder, in a form that needs no Moorage to read.
import { resolve } from "node:path";
import type { Command } from "commander";
import { bytesText } from "./output/sizes.ts";
import { addSettings, type FlagValues, namesPlace } from "./settings.ts";
import { withProgress } from "./terminal/progress.ts";

/** Adds `moorage export`. */
export function addExport(program: Command): void {
  const command = program
    .command("export")
    .description("write the whole installation to a folder; the server may run")
    .argument("<folder>", "new, or that of an export to go on with or to bring up to date");
  const configOf = addSettings(command, namesPlace);
  command.action(async (folder: string, values: FlagValues) => {
    const { exportInstallation } = await import("@moorage/server");
    const config = await configOf(values);
    const { tables, blobs } = await withProgress("run the same command again to go on", (report) =>
      exportInstallation(config, resolve(folder), report),
    );
    const rows = Object.values(tables).reduce((sum, table) => sum + table.rows, 0);
    console.log(
      `exported ${rows} rows of ${Object.keys(tables).length} tables and ${blobs.count} blobs (${bytesText(blobs.bytes)}) to ${folder}`,
    );
  });
}
