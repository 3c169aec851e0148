// The tree of commands: the part of it that a command line needs, or all of it.
import { Command, Help } from "commander";
import { type CommandSpec, commandNamed, COMMANDS } from "./commands.ts";
import { SECTIONS } from "./resources/spec.ts";
import { commandTerm } from "./settings.ts";
import { ownVersion } from "./version.ts";
import { helpLayout } from "./command/help-layout.ts";
import { usageLine } from "./command/usage.ts";

const GLOBAL_FLAGS = `
Commands for a server take --context, --url, --token, --data-dir, --timeout and
--debug, which may also stand before the command's name.
moorage help COMMAND shows what a command takes.`;

/** The program without any command. */
function bareProgram(): Command {
  return new Command("moorage")
    .version(ownVersion(), "-V, --version", "print the version")
    .description("A self-hosted container registry with its control plane.")
    .helpOption("-h, --help", "show help")
    .helpCommand(false)
    .usage("<command> [arguments]")
    .addHelpText("after", GLOBAL_FLAGS)
    .configureOutput({ outputError: (text, write) => write(usageLine(text)) })
    .configureHelp({ subcommandTerm: termOf, showGlobalOptions: false, ...helpLayout })
    .exitOverride();
}

function termOf(command: Command): string {
  return command.parent?.parent === null || command.parent?.parent === undefined
    ? (new Help().subcommandTerm(command).split(" ")[0] ?? "")
    : commandTerm(command);
}

/**
 * The program with the one command of that name; where there is none, with the names of all, for help and hints.
 * `words`: the rest of the command line, where only that is to be run.
 */
export async function programFor(name: string | undefined, words?: readonly string[]): Promise<Command> {
  const program = bareProgram();
  const found = commandNamed(name);
  if (found !== undefined) await addWhole(program, found, words);
  else addNames(program);
  return program;
}

/** The program with everything: for documents, and for completion's table. */
export async function wholeProgram(): Promise<Command> {
  const program = bareProgram();
  for (const spec of ordered()) await addWhole(program, spec);
  return program;
}

async function addWhole(program: Command, spec: CommandSpec, words?: readonly string[]): Promise<void> {
  const add = await spec.load();
  add(program, words);
  const made = program.commands.at(-1);
  if (made === undefined) return;
  made.helpGroup(`${spec.section}:`).summary(spec.summary);
  for (const alias of spec.aliases ?? []) made.alias(alias);
}

function addNames(program: Command): void {
  for (const { name, section, summary, aliases = [] } of ordered())
    program
      .command(name)
      .summary(summary)
      .description(summary)
      .helpGroup(`${section}:`)
      .aliases([...aliases]);
}

function ordered(): CommandSpec[] {
  return SECTIONS.flatMap((section) => COMMANDS.filter((command) => command.section === section));
}
