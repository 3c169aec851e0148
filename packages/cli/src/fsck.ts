// `moorage fsck`: checks whether the database and the blobs of an installation are consistent.
import type { FsckResult } from "@moorage/server";
import type { Command } from "commander";
import { addSettings, type FlagValues, namesPlace } from "./settings.ts";
import { withProgress } from "./terminal/progress.ts";
import { escapeControls, printableLines } from "./printable.ts";

/** Adds `moorage fsck`. The exit code is 0 without problems, and 1 when problems remain. */
export function addFsck(program: Command): void {
  const command = program
    .command("fsck")
    .description("compare the database with itself and with the blobs")
    .option("--repair", "repair what can be repaired; an embedded server must be stopped")
    .option("--deep", "hash every blob, too")
    .option("--json", "print what was found as JSON");
  const configOf = addSettings(command, (name) => namesPlace(name) || name === "MOORAGE_UPLOAD_TTL");
  command.action(async (values: FlagValues) => {
    const options = { repair: values["repair"] === true, deep: values["deep"] === true };
    const { checkInstallation } = await import("@moorage/server");
    const config = await configOf(values);
    const result = await withProgress("what was mended stays so; run the same command again", (report) =>
      checkInstallation(config, options, report),
    );
    if (values["json"] === true) console.log(escapeControls(JSON.stringify(result, null, 2)));
    else for (const line of linesOf(result)) console.log(printableLines(line));
    if (!result.clean) process.exitCode = 1;
  });
}

function linesOf({ findings, clean, checked }: FsckResult): string[] {
  const lines = findings.flatMap(({ kind, meaning, count, repaired, left, notice, examples }) => {
    const outcome = notice ? " (no fault)" : repaired === 0 ? "" : left === 0 ? ", mended" : `, ${repaired} mended`;
    return [
      `${kind}: ${count}${outcome}: ${meaning}`,
      ...examples.map((example) => `    ${example}`),
      ...(count > examples.length ? [`    … and ${count - examples.length} more`] : []),
    ];
  });
  return [...lines, `${clean ? "clean" : "not clean"}: ${checked.rows} rows and ${checked.blobs} blobs looked at`];
}
