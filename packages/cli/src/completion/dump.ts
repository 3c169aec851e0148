// From commander's tree to the table of completion, when the package is built.
import type { Argument, Command, Option } from "commander";
import { sourceOf, wordsOf } from "../command/completion-sources.ts";
import type { ArgumentEntry, CommandEntry, OptionEntry, Table, Value } from "./table.ts";

const MAX_HELP_CHARS = 80;

/**
 * The table of a program with all its commands. `leading`: options that may stand before a command's name, which the
 * program takes itself.
 */
export function dumpTable(program: Command, leading: readonly Option[]): Table {
  const commands: Record<string, string> = {};
  const options = new Map<string, number>();
  const indexOf = (option: Option): number => {
    const text = JSON.stringify(optionEntry(option));
    const index = options.get(text) ?? options.size;
    options.set(text, index);
    return index;
  };
  const visit = (command: Command, path: readonly string[], own: readonly Option[]): void => {
    const visible = command
      .createHelp()
      .visibleCommands(command)
      .filter((each) => each.name() !== "help");
    const entry: CommandEntry = {
      ...(visible.length > 0 && { commands: visible.map(nameEntry) }),
      ...(command.registeredArguments.length > 0 && { arguments: command.registeredArguments.map(argumentEntry) }),
      options: own.filter(({ hidden }) => !hidden).map(indexOf),
    };
    commands[path.join(" ")] = JSON.stringify(entry);
    for (const each of visible) visit(each, [...path, each.name()], [...each.options, ...helpOf(each)]);
  };
  visit(program, [], [...leading, ...program.options, ...helpOf(program)]);
  return { commands, options: [...options.keys()] };
}

/** Commander's option for help, which is in no list of options. */
function helpOf(command: Command): Option[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long === "--help");
}

function nameEntry(command: Command): NonNullable<CommandEntry["commands"]>[number] {
  const aliases = command.aliases();
  return {
    name: command.name(),
    ...(aliases.length > 0 && { aliases }),
    help: short(command.summary() || command.description()),
  };
}

function argumentEntry(argument: Argument): ArgumentEntry {
  return { ...valueOf(argument, argument.name()), ...(argument.variadic && { variadic: true }) };
}

function optionEntry(option: Option): OptionEntry {
  const [, name = ""] = /[<[]([^<>[\].]*)(?:\.\.\.)?[>\]]/.exec(option.flags) ?? [];
  const takesValue = option.required || option.optional;
  return {
    names: [option.short, option.long].filter((each) => each !== undefined),
    help: short(option.description),
    ...(takesValue && { value: valueOf(option, name) }),
    ...(option.optional && { optional: true }),
    // A function that is given the values before collects them.
    ...((option.variadic || (option.parseArg?.length ?? 0) > 1) && { repeats: true }),
  };
}

function valueOf(target: Argument | Option, name: string): Value {
  const words = wordsOf(target);
  const source = sourceOf(target) ?? (words.length === 0 && /\b(?:file|folder)\b/.exec(name)?.[0]);
  return {
    name,
    ...(words.length > 0 && { words }),
    ...(source && { source: source as NonNullable<Value["source"]> }),
  };
}

/** The first sentence or clause of a help text, without what stands in brackets at its end, for one line. */
function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  const before = line.endsWith(")") ? Math.max(0, line.lastIndexOf(")", line.length - 2)) : line.length;
  const bracket = line.indexOf(" (", before);
  const [first = ""] = (bracket < 0 ? line : line.slice(0, bracket)).split(/(?<=[^.]{3})[.;](?: |$)/);
  return first.length <= MAX_HELP_CHARS ? first : `${first.slice(0, MAX_HELP_CHARS - 1).trimEnd()}…`;
}
