// The command of a noun: its verbs from the API's methods, and those made by hand.
import type { Command } from "commander";
import type { NounSpec } from "./spec.ts";

/** Loads the methods of a noun. What it gives adds the noun's command with its verbs to the program. */
export async function loadNoun(noun: NounSpec): Promise<(program: Command) => void> {
  return (program) => program.command(noun.name).description(noun.summary);
}
