// Commands made by hand below the nouns of the API, where a task takes more than one method.
import type { Command } from "commander";

/** Commands below a noun. Each has a name; a verb of the API with the same name gives way to it. */
export interface Tasks {
  readonly names: readonly string[];
  /** Adds them to the noun's command. */
  add(noun: Command): void;
}
