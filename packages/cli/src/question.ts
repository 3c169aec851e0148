// Questions to the person at the terminal.
import { createInterface } from "node:readline/promises";

/** Whether somebody is there to answer. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks and returns the line that the person types. Throws an Error when the terminal is closed instead. */
export async function question(text: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<never>((_, reject) => lines.once("close", () => reject(new Error("nothing was typed"))));
  try {
    return (await Promise.race([lines.question(text), closed])).trim();
  } finally {
    lines.close();
  }
}
