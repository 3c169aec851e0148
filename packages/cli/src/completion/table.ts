// The table of commands from which completion works: gen/completion, made by scripts/cli-documents.ts.
import type { Source } from "../command/completion-sources.ts";

/** What completes a value: fixed words, each with a description, or a source. */
export interface Value {
  /** As usage shows it, such as `repo`. */
  readonly name: string;
  readonly words?: readonly (readonly [word: string, description: string])[];
  readonly source?: Source;
}

/** An option of a command. */
export interface OptionEntry {
  /** Such as `-o` and `--output`. */
  readonly names: readonly string[];
  readonly help: string;
  /** Absent for a flag without a value. */
  readonly value?: Value;
  /** Whether the value may be left out. */
  readonly optional?: true;
  /** Whether it may be given more than once. */
  readonly repeats?: true;
}

/** An argument of a command. */
export interface ArgumentEntry extends Value {
  /** Whether it takes all words that follow. */
  readonly variadic?: true;
}

/** A command. The table has its path, such as `repos list`; that of the program is empty. */
export interface CommandEntry {
  /** The commands below it, with their aliases. */
  readonly commands?: readonly { readonly name: string; readonly aliases?: readonly string[]; readonly help: string }[];
  readonly arguments?: readonly ArgumentEntry[];
  /** Indexes of its options. */
  readonly options?: readonly number[];
}

/** The table: JSON of each command by its path, and of each option, so that only what is needed is parsed. */
export interface Table {
  readonly commands: Readonly<Record<string, string>>;
  readonly options: readonly string[];
}

/** The command with that path; undefined when there is none. */
export function commandAt(table: Table, path: readonly string[]): CommandEntry | undefined {
  const text = table.commands[path.join(" ")];
  return text === undefined ? undefined : (JSON.parse(text) as CommandEntry);
}

/** The options of a command. */
export function optionsOf(table: Table, { options = [] }: CommandEntry): OptionEntry[] {
  return options.map((index) => JSON.parse(table.options[index] ?? "") as OptionEntry);
}
