// `moorage backup`: a copy of an embedded installation, taken while its server runs.
import { resolve } from "node:path";
import type { Command } from "commander";
import { bytesText } from "./output/sizes.ts";
import { addSettings, type FlagValues, namesPlace } from "./settings.ts";
import { withProgress } from "./terminal/progress.ts";

/** Adds `moorage backup`. */
export function addBackup(program: Command): void {
  const command = program
    .command("backup")
    .description("copy an embedded installation to a folder; the server may run")
    .argument("<folder>", "new or empty");
  const configOf = addSettings(command, namesPlace);
  command.action(async (folder: string, values: FlagValues) => {
    const { backupInstallation } = await import("@moorage/server");
    const config = await configOf(values);
    const { blobs } = await withProgress(`${folder} is no backup: remove it`, (report) =>
      backupInstallation(config, resolve(folder), report),
    );
    console.log(`backed up the database and ${blobs.count} blobs (${bytesText(blobs.bytes)}) to ${folder}`);
  });
}
