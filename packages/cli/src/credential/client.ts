import { lineOf } from "../command/failure.ts";
import { ownVersion } from "../version.ts";
import { readInput } from "./input.ts";
import { answer } from "./protocol.ts";

const WANT_INPUT = new Set(["get", "store", "erase"]);

/** Runs `docker-credential-moorage` with the arguments of this process, and sets the exit code. */
export async function answerClient(): Promise<void> {
  const action = process.argv[2] ?? "";
  try {
    const input = WANT_INPUT.has(action) ? await readInput() : "";
    const { code, output, note } = await answer(action, input, process.env, ownVersion());
    if (note !== undefined) console.error(note);
    if (output !== "") console.log(output);
    process.exitCode = code;
  } catch (error) {
    console.log(lineOf(error));
    process.exitCode = 1;
  }
}
