// Commands made by hand below the nouns of the API, where a task takes more than one method.
import type { Command } from "commander";
import type { Extension } from "../resources/extension.ts";

/** Commands below a noun. Each has a name; a verb of the API with the same name gives way to it. */
export interface Tasks {
  readonly names: readonly string[];
  /** Adds them to the noun's command. */
  add(noun: Command): void;
  /** What verbs of the API have besides, by their names. */
  readonly extend?: Readonly<Record<string, Extension>>;
}

const TASKS: Readonly<Record<string, () => Promise<Tasks>>> = {
  tags: async () => (await import("./tags.ts")).TAG_TASKS,
  images: async () => (await import("./images.ts")).IMAGE_TASKS,
  libraries: async () => (await import("./libraries.ts")).LIBRARY_TASKS,
  identities: async () => (await import("./identities.ts")).IDENTITY_TASKS,
  subscriptions: async () => (await import("./subscriptions.ts")).SUBSCRIPTION_TASKS,
  events: async () => (await import("./events.ts")).EVENT_TASKS,
};

/** The commands made by hand below a noun, such as `tags`; undefined for a noun that has none. */
export async function tasksOf(noun: string): Promise<Tasks | undefined> {
  return TASKS[noun]?.();
}
