// Questions to the person at the terminal.
import { createInterface } from "node:readline/promises";
import { EXIT } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import { printableLines } from "../printable.ts";

/** Whether somebody is there to answer. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks and returns the line that the person types. Throws a Failure for Ctrl-C, and when the terminal is closed. */
export async function question(text: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const left = Promise.withResolvers<never>();
  lines.once("SIGINT", () => left.reject(new Failure("interrupted", { exit: EXIT.interrupted })));
  lines.once("close", () => left.reject(new Failure("nothing was typed")));
  try {
    return (await Promise.race([lines.question(printableLines(text)), left.promise])).trim();
  } catch (error) {
    // The prompt's line has no end yet.
    process.stderr.write("\n");
    throw error;
  } finally {
    lines.close();
  }
}
