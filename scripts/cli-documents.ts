// What is made of the tree of commands: completion's table (gen/completion of the command), and the page of all
// commands with the examples in docs/cli.
import { dirname, join } from "node:path";
import { Command } from "commander";
import { addServerOptions } from "../packages/cli/src/command/global-options.ts";
import { dumpTable } from "../packages/cli/src/completion/dump.ts";
import { cliPage } from "./cli-page.ts";

const root = dirname(import.meta.dirname);

/** The page, as Markdown. */
export function commandsPage(program: Command): string {
  return cliPage(program, join(root, "docs/cli"));
}

/** The module of completion's table. */
export function completionModule(program: Command): string {
  const { commands, options } = dumpTable(program, addServerOptions(new Command()).options);
  return `// Made by scripts/gen/main.ts out of the tree of commands: change it there.

/** JSON of each command, by its path; see completion/table.ts. */
export const COMMANDS: Readonly<Record<string, string>> = ${JSON.stringify(commands, null, 2)};

/** JSON of each option. */
export const OPTIONS: readonly string[] = ${JSON.stringify(options, null, 2)};
`;
}
