// `moorage __complete`: what the shells' scripts call at each key. It loads neither the parser nor anything of the
// server, never asks a question, and prints no error.
import { COMMANDS, OPTIONS } from "../gen/completion.ts";
import { readBashLine } from "./bash-line.ts";
import { type Offer, offerAt } from "./candidates.ts";
import { positionOf } from "./position.ts";
import { bashLines, linesFor } from "./reply.ts";
import type { Table } from "./table.ts";

const TABLE: Table = { commands: COMMANDS, options: OPTIONS };

/**
 * Prints what can stand at the cursor, and ends the process. Its words: the shell, what that shell's script has to say
 * of itself, `--`, and the command line. For bash that is one text up to the cursor, after COMP_WORDBREAKS, COMP_TYPE
 * and COLUMNS; for others its words without the program's name. `later`: as in `namesAt`.
 */
export async function answerCompletion(argv: readonly string[], later: boolean): Promise<void> {
  let reply = "";
  try {
    reply = await replyTo(argv, later);
  } catch {
    // A broken file of settings is no reason to write over the line that is being typed.
  }
  // A pipe is written to before this returns; requests that are under way are given up.
  process.stdout.write(reply, () => process.exit(0));
}

async function replyTo(argv: readonly string[], later: boolean): Promise<string> {
  const end = argv.indexOf("--");
  const [shell, ...facts] = argv.slice(0, end < 0 ? argv.length : end);
  const given = end < 0 ? [] : argv.slice(end + 1);
  if (shell === "bash") {
    const [breaks = "", type = "", columns = ""] = facts;
    const line = readBashLine(given[0] ?? "", breaks);
    const offer = await offerFor(line.words.slice(1), later);
    return bashLines(offer, line, { type, columns: Number(columns) || 80 });
  }
  return linesFor(await offerFor(given, later));
}

function offerFor(words: readonly string[], later: boolean): Promise<Offer> {
  return offerAt(TABLE, positionOf(TABLE, words), async (at) => (await import("./names.ts")).namesAt(at, later));
}
