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
