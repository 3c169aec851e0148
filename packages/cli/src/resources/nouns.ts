// The command of a noun: its verbs from the API's methods, and those made by hand.
import type { Command } from "commander";
import { tasksOf } from "../tasks/index.ts";
import type { MethodSpec, NounSpec } from "./spec.ts";
import { addVerb } from "./verbs.ts";

/** Loads the methods of a noun. What it gives adds the noun's command with its verbs to the program. */
export async function loadNoun(noun: NounSpec): Promise<(program: Command) => void> {
  const [{ METHODS }, tasks] = await Promise.all([noun.load(), tasksOf(noun.name)]);
  const names = new Set(tasks?.names);
  return (program) => {
    const command = program
      .command(noun.name)
      .description(`${noun.summary.charAt(0).toUpperCase()}${noun.summary.slice(1)}.`);
    for (const method of METHODS.toSorted(byVerb)) {
      if (names.has(method.verb)) continue;
      const isNoun = method.verb === noun.name;
      const verb = isNoun ? command : command.command(method.verb);
      for (const alias of method.aliases ?? []) if (!names.has(alias)) verb.alias(alias);
      addVerb(verb, noun.name, method, tasks?.extend?.[method.verb]);
    }
    tasks?.add(command);
  };
}

const FIRST: readonly string[] = ["list", "get", "create", "update", "delete"];

/** The standard methods first, the others as the API has them. */
function byVerb(one: MethodSpec, other: MethodSpec): number {
  const place = ({ verb }: MethodSpec): number => (FIRST.indexOf(verb) + FIRST.length + 1) % (FIRST.length + 1);
  return place(one) - place(other);
}
