// What can stand where the cursor is.
import type { Position } from "./position.ts";
import { type OptionEntry, optionsOf, type Table } from "./table.ts";

/** A word that is offered, and what it is, which may be empty. */
export interface Candidate {
  readonly word: string;
  readonly help: string;
}

/** What is offered. `paths`: the shell offers its own. */
export interface Offer {
  readonly candidates: readonly Candidate[];
  readonly paths?: "files" | "folders";
}

/** Names of a server or of this machine: what begins with the text, for a value that has a source. */
export type Ask = (position: Position) => Promise<Offer>;

/** What is offered at a position. `ask` is called only where the table does not have the words. */
export async function offerAt(table: Table, position: Position, ask: Ask): Promise<Offer> {
  const { command, value, text, prefix, takesOptions, operands, help } = position;
  if (prefix === "" && takesOptions && text.startsWith("-") && text !== "-" && !help)
    return { candidates: optionNames(table, position) };
  if (value === undefined) {
    if (prefix !== "" || operands.length > 0) return { candidates: [] };
    if (text === "-") return { candidates: optionNames(table, position) };
    const names = (command.commands ?? []).map(({ name, help: words }) => ({ word: name, help: words }));
    const more = position.path.length === 0 && !help ? [{ word: "help", help: "show what a command takes" }] : [];
    return { candidates: starting([...names, ...more], text) };
  }
  const offer = await offerOf(position, ask);
  return { ...offer, candidates: offer.candidates.map((each) => ({ ...each, word: `${prefix}${each.word}` })) };
}

async function offerOf(position: Position, ask: Ask): Promise<Offer> {
  const { value, text } = position;
  if (value?.words !== undefined) {
    const all = value.words.map(([word, help]) => ({ word, help }));
    return { candidates: starting(all, text) };
  }
  switch (value?.source) {
    case undefined:
    case "none":
      return { candidates: [] };
    case "file":
      return { candidates: [], paths: "files" };
    case "folder":
      return { candidates: [], paths: "folders" };
    default:
      return ask(position);
  }
}

/** The candidates that begin with the text. */
export function starting(candidates: readonly Candidate[], text: string): Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(text));
}

function optionNames(table: Table, { command, given, text }: Position): Candidate[] {
  const isFree = ({ names, repeats }: OptionEntry): boolean =>
    repeats === true || !names.some((name) => given.has(name));
  const free = optionsOf(table, command).filter(isFree);
  return starting(
    free.flatMap(({ names, help }) => {
      const long = names.find((name) => name.startsWith("--"));
      return [{ word: long ?? names[0] ?? "", help }];
    }),
    text,
  );
}
