// The command of a noun: its verbs from the API's methods, and those made by hand.
import type { Command } from "commander";
import { methodsOf } from "./resources/method-data.ts";
import type { MethodSpec, NounSpec } from "./resources/spec.ts";
import { addVerb } from "./resources/verbs.ts";
import type { Tasks } from "./tasks/tasks.ts";

/**
 * Loads the methods of a noun. What it gives adds the noun's command with its verbs to the program; where words of the
 * command line name verbs, of the others only the names.
 */
export async function loadNoun(noun: NounSpec): Promise<(program: Command, words?: readonly string[]) => void> {
  const [methods, tasks] = await Promise.all([methodsOf(noun), tasksOf(noun.name)]);
  const names = new Set(tasks?.names);
  return (program, words = []) => {
    const isNamed = ({ verb, aliases = [] }: MethodSpec): boolean =>
      [verb, ...aliases].some((name) => words.includes(name));
    const isAll = !methods.some(isNamed);
    const command = program
      .command(noun.name)
      .description(`${noun.summary.charAt(0).toUpperCase()}${noun.summary.slice(1)}.`);
    for (const method of methods.toSorted(byVerb)) {
      if (names.has(method.verb)) continue;
      const isNoun = method.verb === noun.name;
      const verb = isNoun ? command : command.command(method.verb);
      for (const alias of method.aliases ?? []) if (!names.has(alias)) verb.alias(alias);
      if (isAll || isNoun || isNamed(method)) addVerb(verb, noun.name, method, tasks?.extend?.[method.verb]);
      else verb.summary(method.summary);
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

const TASKS: Readonly<Record<string, () => Promise<Tasks>>> = {
  tags: async () => (await import("./tasks/tags.ts")).TAG_TASKS,
  images: async () => (await import("./tasks/images.ts")).IMAGE_TASKS,
  libraries: async () => (await import("./tasks/libraries.ts")).LIBRARY_TASKS,
  identities: async () => (await import("./tasks/identities.ts")).IDENTITY_TASKS,
  subscriptions: async () => (await import("./tasks/subscriptions.ts")).SUBSCRIPTION_TASKS,
  "signature-policies": async () => (await import("./tasks/signature-policies.ts")).SIGNATURE_POLICY_TASKS,
  signers: async () => (await import("./tasks/signers.ts")).SIGNER_TASKS,
  "personal-tokens": async () => (await import("./tasks/personal-tokens.ts")).PERSONAL_TOKEN_TASKS,
  events: async () => (await import("./tasks/events.ts")).EVENT_TASKS,
};

/** The commands made by hand below a noun, such as `tags`; undefined for a noun that has none. */
export async function tasksOf(noun: string): Promise<Tasks | undefined> {
  return TASKS[noun]?.();
}
