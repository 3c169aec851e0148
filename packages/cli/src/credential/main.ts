// The `docker-credential-moorage` command.
import { lineOf } from "../command/failure.ts";
import { readFileSync } from "node:fs";
import { answer } from "./protocol.ts";

const MAX_INPUT_CHARS = 65_536;
const INPUT_TIMEOUT_MS = 30_000;
const WANT_INPUT = new Set(["get", "store", "erase"]);

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};
const action = process.argv[2] ?? "";

/** Everything that the client sends. Throws an Error when it takes too long or is too large. */
async function readInput(): Promise<string> {
  const timer = setTimeout(
    () => process.stdin.destroy(new Error("the input did not arrive in time")),
    INPUT_TIMEOUT_MS,
  );
  let text = "";
  try {
    for await (const chunk of process.stdin.setEncoding("utf8") as AsyncIterable<string>) {
      text += chunk;
      if (text.length > MAX_INPUT_CHARS) throw new Error("the input is too long");
    }
  } finally {
    clearTimeout(timer);
  }
  return text;
}

try {
  const { code, output, note } = await answer(
    action,
    WANT_INPUT.has(action) ? await readInput() : "",
    process.env,
    version,
  );
  if (note !== undefined) console.error(note);
  if (output !== "") console.log(output);
  process.exitCode = code;
} catch (error) {
  console.log(lineOf(error));
  process.exitCode = 1;
}
