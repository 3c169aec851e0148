// Writes what is made of the tree of commands: completion's table (packages/cli/src/gen/completion.ts). With --check it
// only reports whether the committed files are up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command } from "commander";
import { addServerOptions } from "../packages/cli/src/command/global-options.ts";
import { wholeProgram } from "../packages/cli/src/command/program.ts";
import { dumpTable } from "../packages/cli/src/completion/dump.ts";
import { addFlagsOfSettings } from "../packages/cli/src/settings.ts";

const root = dirname(import.meta.dirname);
const program = await wholeProgram();
await addAllFlags(program);

write("packages/cli/src/gen/completion.ts", completionModule());

function completionModule(): string {
  const { commands, options } = dumpTable(program, addServerOptions(new Command()).options);
  return `// Written by \`npm run generate\` out of the tree of commands: change it there.

/** JSON of each command, by its path; see completion/table.ts. */
export const COMMANDS: Readonly<Record<string, string>> = ${JSON.stringify(commands, null, 2)};

/** JSON of each option. */
export const OPTIONS: readonly string[] = ${JSON.stringify(options, null, 2)};
`;
}

/** Adds the flags of settings, which only the command that runs has otherwise. */
async function addAllFlags(command: Command): Promise<void> {
  await addFlagsOfSettings(command);
  for (const each of command.commands) await addAllFlags(each);
}

function write(path: string, text: string): void {
  const file = join(root, path);
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text);
  } else if (readFileSync(file, "utf8") !== text) {
    console.error(`${path} is out of date: run \`npm run generate\` and commit what it changes`);
    process.exitCode = 1;
  }
}
