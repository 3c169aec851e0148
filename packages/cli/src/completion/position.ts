// Where in the tree of commands a word is that is to be completed.
import {
  type ArgumentEntry,
  commandAt,
  type CommandEntry,
  type OptionEntry,
  optionsOf,
  type Table,
  type Value,
} from "./table.ts";

/** What the last word of a command line can be. */
export interface Position {
  /** The command that it belongs to. */
  readonly command: CommandEntry;
  readonly path: readonly string[];
  /** A value of an option, or an argument. Undefined where a command or an option is expected, or nothing. */
  readonly value?: Value;
  /** What stands before the value in the same word, such as `--output=`; empty otherwise. */
  readonly prefix: string;
  /** The text to complete, without the prefix. */
  readonly text: string;
  /** The values of the options before it, by name without dashes; the last one of each. */
  readonly flags: ReadonlyMap<string, string>;
  /** The arguments before it. */
  readonly operands: readonly string[];
  /** Names of options that were given. */
  readonly given: ReadonlySet<string>;
  /** Whether options may still follow: not after `--`. */
  readonly takesOptions: boolean;
  /** Whether only names of commands are expected: after `help`. */
  readonly help: boolean;
}

/** Reads a command line without the program's name; its last word, which may be empty, is the one to complete. */
export function positionOf(table: Table, words: readonly string[]): Position {
  const path: string[] = [];
  const flags = new Map<string, string>();
  const given = new Set<string>();
  const operands: string[] = [];
  let command = commandAt(table, path) ?? {};
  let options = optionsOf(table, command);
  let awaited: OptionEntry | undefined;
  let takesOptions = true;
  let help = false;

  const takeOption = (word: string): void => {
    const found = optionIn(options, word);
    if (found === undefined) return;
    const { option, value } = found;
    for (const name of option.names) given.add(name);
    if (value !== undefined) note(option, value);
    else if (option.value !== undefined) awaited = option;
  };
  const note = ({ names }: OptionEntry, value: string): void => {
    for (const name of names) flags.set(name.replace(/^-+/, ""), value);
  };
  const takeOperand = (word: string): void => {
    const below = operands.length === 0 ? command.commands?.find((each) => isNamed(each, word)) : undefined;
    if (below !== undefined) {
      path.push(below.name);
      command = commandAt(table, path) ?? {};
      options = optionsOf(table, command);
    } else if (path.length === 0 && word === "help" && operands.length === 0) {
      help = true;
    } else {
      operands.push(word);
    }
  };
  for (const word of words.slice(0, -1)) {
    const option = awaited;
    awaited = undefined;
    if (option !== undefined && takesNext(option, word)) note(option, word);
    else if (takesOptions && word === "--") takesOptions = false;
    else if (takesOptions && word.startsWith("-") && word !== "-") takeOption(word);
    else takeOperand(word);
  }

  const text = words.at(-1) ?? "";
  const known = { command, path, flags, operands, given, takesOptions, help };
  const [, name, inline] = (takesOptions && /^(--[^=]+)=(.*)$/s.exec(text)) || [];
  if (awaited?.value !== undefined && takesNext(awaited, text))
    return { ...known, value: awaited.value, prefix: "", text };
  if (name !== undefined && inline !== undefined) {
    const value = options.find(({ names }) => names.includes(name))?.value;
    return { ...known, ...(value && { value }), prefix: `${name}=`, text: inline };
  }
  const argument = help ? undefined : argumentAt(command.arguments ?? [], operands.length);
  return { ...known, ...(argument && { value: argument }), prefix: "", text };
}

/** Whether an option takes the next word as its value. */
function takesNext({ optional }: OptionEntry, word: string): boolean {
  return optional !== true || !word.startsWith("-");
}

/** The option that a word is, with the value in the same word: `--output=json` or `-ojson`. */
function optionIn(options: readonly OptionEntry[], word: string): { option: OptionEntry; value?: string } | undefined {
  const [, name = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
  const whole = options.find(({ names }) => names.includes(name));
  if (whole !== undefined) return { option: whole, ...(value !== undefined && { value }) };
  const short = word.startsWith("--") ? undefined : options.find(({ names }) => names.includes(word.slice(0, 2)));
  if (short === undefined) return undefined;
  return { option: short, ...(short.value !== undefined && { value: word.slice(2) }) };
}

function isNamed({ name, aliases = [] }: { name: string; aliases?: readonly string[] }, word: string): boolean {
  return name === word || aliases.includes(word);
}

function argumentAt(all: readonly ArgumentEntry[], index: number): ArgumentEntry | undefined {
  const last = all.at(-1);
  return all[index] ?? (last?.variadic ? last : undefined);
}
