// `moorage restore`: creates a data folder from a backup.
import { resolve } from "node:path";
import type { Command } from "commander";
import { bytesText } from "./output/sizes.ts";
import { addSettings, type FlagValues, namesPlace } from "./settings.ts";
import { withProgress } from "./terminal/progress.ts";

/** Adds `moorage restore`. */
export function addRestore(program: Command): void {
  const command = program
    .command("restore")
    .description("make a data folder from a backup")
    .argument("<backup>", "the backup's folder")
    .option("--verify", "hash every blob, too");
  const configOf = addSettings(command, namesPlace);
  command.action(async (folder: string, values: FlagValues) => {
    const { restoreInstallation } = await import("@moorage/server");
    const config = await configOf(values);
    const { blobs } = await withProgress(
      `no server starts on ${config.dataDir}: empty it before the next try`,
      (report) => restoreInstallation(config, resolve(folder), { verify: values["verify"] === true }, report),
    );
    console.log(`restored the database and ${blobs.count} blobs (${bytesText(blobs.bytes)}) to ${config.dataDir}`);
  });
}
