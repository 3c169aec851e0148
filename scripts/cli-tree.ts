// The tree of commands as documents and man pages show it.
import type { Command, Option } from "commander";
import { wholeProgram } from "../packages/cli/src/program.ts";
import { addFlagsOfSettings } from "../packages/cli/src/settings.ts";

/** A command of the first level, with all commands below it that do something, itself included. */
export interface Noun {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  /** The heading that it stands below in the list of commands. */
  readonly section: string;
  readonly leaves: readonly Leaf[];
}

/** A command that does something. */
export interface Leaf {
  /** Such as `repos list`. */
  readonly path: string;
  readonly aliases: readonly string[];
  /** Such as `moorage repos list [flags] [place]`. */
  readonly usage: string;
  readonly description: string;
  readonly arguments: readonly { readonly syntax: string; readonly help: string }[];
  /** Its own flags, without those of the groups below. */
  readonly flags: readonly Flag[];
  /** Flags that many commands share and documents explain once. */
  readonly shares: readonly SharedGroup[];
}

/** A flag and its help. */
export interface Flag {
  /** Such as `-o, --output <format>`. */
  readonly syntax: string;
  readonly help: string;
}

/** Groups of flags that many commands have. */
export type SharedGroup = "server" | "output" | "watch";

const OUTPUT = new Set(["--output", "--jq", "--no-headers"]);
const WATCH = new Set(["--watch", "--interval"]);

/** The program with the flags of all settings. */
export async function documentedProgram(): Promise<Command> {
  const program = await wholeProgram();
  const addAll = async (command: Command): Promise<void> => {
    await addFlagsOfSettings(command);
    for (const each of command.commands) await addAll(each);
  };
  await addAll(program);
  return program;
}

/** All commands of the first level, in the order of help. */
export function nounsOf(program: Command): Noun[] {
  return program.commands.map((command) => ({
    name: command.name(),
    aliases: command.aliases(),
    summary: command.summary() || command.description(),
    section: command.helpGroup().replace(/:$/, ""),
    leaves: leavesOf(command, []),
  }));
}

/** The flags of each group, from a command that has them. */
export function sharedFlags(program: Command): Record<SharedGroup, Flag[]> {
  const groups: Record<SharedGroup, Flag[]> = { server: [], output: [], watch: [] };
  const visit = (command: Command): void => {
    for (const option of command.options) {
      const group = groupOf(option);
      const flag = flagOf(option);
      if (group !== undefined && !groups[group].some(({ syntax }) => syntax === flag.syntax)) groups[group].push(flag);
    }
    command.commands.forEach(visit);
  };
  visit(program);
  return groups;
}

function leavesOf(command: Command, above: readonly string[]): Leaf[] {
  const path = [...above, command.name()];
  const below = command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== "help");
  const takesWork = below.length === 0 || command.registeredArguments.length > 0;
  return [...(takesWork ? [leafOf(command, path)] : []), ...below.flatMap((each) => leavesOf(each, path))];
}

function leafOf(command: Command, path: readonly string[]): Leaf {
  const visible = command.options.filter(({ hidden }) => !hidden);
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return { syntax: argument.required ? `<${name}>` : `[${name}]`, help: argument.description };
  });
  const groups = visible.map(groupOf).filter((group) => group !== undefined);
  return {
    path: path.join(" "),
    aliases: path.length > 1 ? command.aliases() : [],
    usage: ["moorage", ...path, ...(visible.length > 0 ? ["[flags]"] : []), ...words.map(({ syntax }) => syntax)].join(
      " ",
    ),
    description: command.description(),
    arguments: words.filter(({ help }) => help !== ""),
    flags: visible.filter((option) => groupOf(option) === undefined).map(flagOf),
    shares: [...new Set(groups)],
  };
}

function groupOf({ long, helpGroupHeading }: Option): SharedGroup | undefined {
  if (helpGroupHeading === "Server:") return "server";
  if (OUTPUT.has(long ?? "")) return "output";
  return WATCH.has(long ?? "") ? "watch" : undefined;
}

function flagOf({ flags, description }: Option): Flag {
  return { syntax: flags, help: description };
}
