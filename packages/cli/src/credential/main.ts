// The `docker-credential-moorage` command.
import { readFileSync } from "node:fs";
import { answer } from "./protocol.ts";

const MAX_INPUT_CHARS = 65_536;
const INPUT_TIMEOUT_MS = 30_000;
const WANT_INPUT = new Set(["get", "store", "erase"]);

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};
const action = process.argv[2] ?? "";

/** What the client sends, to its end. Throws an Error when that does not come, or is too much. */
async function readInput(): Promise<string> {
  const timer = setTimeout(
    () => process.stdin.destroy(new Error("the question did not come in time")),
    INPUT_TIMEOUT_MS,
  );
  let text = "";
  try {
    for await (const chunk of process.stdin.setEncoding("utf8") as AsyncIterable<string>) {
      text += chunk;
      if (text.length > MAX_INPUT_CHARS) throw new Error("the question is too long");
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
  console.log(error instanceof Error ? error.message : "it did not work");
  process.exitCode = 1;
}
