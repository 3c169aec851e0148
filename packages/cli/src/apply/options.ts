// `moorage apply`: files of resources, made so on the server.
import type { Command } from "commander";
import { addServerOptions } from "../command/global-options.ts";
import { addOutputOptions } from "../output/output.ts";
import type { ApplyFlags } from "./flags.ts";

/** Adds `moorage apply`. */
export function addApply(program: Command): void {
  const collect = (value: string, all: string[] = []): string[] => [...all, value];
  const command = program
    .command("apply")
    .description("make the server match resource files: create what is missing, change what differs")
    .option(
      "-f, --file <file>",
      "a file of YAML or JSON, a folder of such files, or - for standard input; may repeat",
      collect,
    )
    .option("--dry-run", "ask the server what would be done, and do nothing")
    .option("--exit-code", "with --dry-run: end with 8 when something would change")
    .option("--prune", "also delete what stands in groups of the files, is of one of their kinds, and not in them")
    .option("--prune-repos", "with --prune: repos that have tags, too")
    .option("--secrets", "send secrets also where nothing else changes: they cannot be compared")
    .option("-y, --yes", "do not ask before deleting")
    .option("--print <group>", "print the file for what is in a group and all below it")
    .option("--tags", "with --print: tags, too");
  addOutputOptions(addServerOptions(command)).action(async (flags: ApplyFlags) => {
    const { apply } = await import("./run.ts");
    process.exitCode = await apply(flags);
  });
}
