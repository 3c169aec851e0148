// What completes an argument or the value of an option, marked where commander's tree defines it. One line each:
//     command.addArgument(completes(new Argument("<repo...>", "…"), "repo"))
//     command.addOption(completes(new Option("--in <group>", "…"), "group"))
//     completes(command.options.at(-1), "group")          // after command.option(…)
//     completes(command.registeredArguments.at(-1), "image") // after command.argument(…)
// Fixed words are commander's own `choices([...])` and need no mark; `describes` gives them descriptions, or offers
// words where other text is taken as well. All of it goes into gen/completion, from which completion works without
// commander.
import type { Argument, Option } from "commander";

/**
 * Names of the server, by REST: `repo` (acme/team/app), `tag` and `image` (acme/team/app, then its tags after a colon),
 * `group` (acme/team) and the other resources. Of this machine: `context` (of config.json), `server` (URLs signed in
 * to), `file`, `folder`. `none`: nothing is offered.
 */
const SOURCES = [
  "repo",
  "tag",
  "image",
  "group",
  "identity",
  "role",
  "provider",
  "binding",
  "subscription",
  "scanner",
  "signer",
  "trust-root",
  "quota",
  "signature-policy",
  "mapping",
  "invite",
  "association",
  "advisory",
  "upstream",
  "registry-upstream",
  "replication",
  "policy",
  "library",
  "version",
  "feed",
  "context",
  "server",
  "file",
  "folder",
  "none",
] as const;

/** What completes a value. */
export type Source = (typeof SOURCES)[number];

const marks = new WeakMap<Argument | Option, Source>();
const descriptions = new WeakMap<Argument | Option, Readonly<Record<string, string>>>();

/** Marks an argument or an option with what completes its value. Returns it. Undefined is passed through. */
export function completes<T extends Argument | Option | undefined>(target: T, source: Source): T {
  if (target) marks.set(target, source);
  return target;
}

/**
 * Offers words with a description each, which shells show beside them: those that `choices` allows, or any. A word that
 * ends with `=` is followed by something. Returns what was given.
 */
export function describes<T extends Argument | Option>(target: T, texts: Readonly<Record<string, string>>): T {
  descriptions.set(target, texts);
  return target;
}

/** What completes a value, as it was marked; undefined where nothing was. */
export function sourceOf(target: Argument | Option): Source | undefined {
  return marks.get(target);
}

/** The words that are offered, each with its description, which may be empty; none where nothing is fixed. */
export function wordsOf(target: Argument | Option): [word: string, description: string][] {
  const texts = descriptions.get(target) ?? {};
  return (target.argChoices ?? Object.keys(texts)).map((word) => [word, texts[word] ?? ""]);
}
