// What completes an argument or the value of an option, marked where commander's tree defines it. One line each:
//     command.addArgument(completes(new Argument("<repo...>", "…"), "repo"))
//     command.addOption(completes(new Option("--in <group>", "…"), "group"))
//     completes(command.options.at(-1), "group")          // after command.option(…)
//     completes(command.registeredArguments.at(-1), "image") // after command.argument(…)
// Fixed words are commander's own `choices([...])` and need no mark; they may have descriptions by `describes`. The marks
// and the choices go into gen/completion.ts, from which completion works without commander.
import type { Argument, Option } from "commander";

/**
 * Names of the server, by REST: `repo` (acme/team/app), `tag` and `image` (acme/team/app, then its tags after a colon),
 * `group` (acme/team) and the other resources. Of this machine: `context` (of config.json), `server` (URLs signed in
 * to), `file`, `folder`. Fixed lists that are in the table once: `capability`, `method` (Service/Method), `path` (of
 * `moorage api`). `none`: free text, nothing is offered.
 */
export const SOURCES = [
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
  "mapping",
  "invite",
  "association",
  "advisory",
  "library",
  "terms",
  "feed",
  "context",
  "server",
  "capability",
  "method",
  "path",
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

/** Gives the choices of an argument or an option a description each, which shells show beside them. Returns it. */
export function describes<T extends Argument | Option>(target: T, texts: Readonly<Record<string, string>>): T {
  descriptions.set(target, texts);
  return target;
}

/** What completes a value, as it was marked; undefined where nothing was. */
export function sourceOf(target: Argument | Option): Source | undefined {
  return marks.get(target);
}

/** The descriptions of choices, by choice; empty where none were given. */
export function descriptionsOf(target: Argument | Option): Readonly<Record<string, string>> {
  return descriptions.get(target) ?? {};
}
