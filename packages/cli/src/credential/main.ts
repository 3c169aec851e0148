// The `docker-credential-moorage` command.
import { readFileSync } from "node:fs";
import { lineOf } from "../command/failure.ts";
import { readInput } from "./input.ts";
import { answer } from "./protocol.ts";

const WANT_INPUT = new Set(["get", "store", "erase"]);

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};
const action = process.argv[2] ?? "";

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
