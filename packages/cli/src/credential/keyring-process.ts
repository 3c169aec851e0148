import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { lineOf } from "../command/failure.ts";
import { answerKeyring } from "./keyring.ts";

const PASSED = "MOORAGE_KEYRING_PASSED";

/**
 * Runs `moorage-keyring`, which pip and uv run under the name `keyring`, with the arguments of this process, and sets
 * the exit code. What is not for Moorage goes to the `keyring` that is next on the PATH, so that other passwords stay
 * where they are.
 */
export async function answerPip(): Promise<void> {
  try {
    const args = process.argv.slice(2);
    const answer = await answerKeyring(args, process.env);
    if (answer === undefined) {
      process.exitCode = await handOn(args);
    } else {
      if (answer.note !== undefined) console.error(`moorage-keyring: ${answer.note}`);
      if (answer.output !== "") console.log(answer.output);
      process.exitCode = answer.code;
    }
  } catch (error) {
    console.error(`moorage-keyring: ${lineOf(error)}`);
    process.exitCode = 1;
  }
}

/** Runs the next keyring and ends as it ends; without one there is no password, which is exit code 1. */
async function handOn(args: readonly string[]): Promise<number> {
  // Several installations on one PATH must not hand a request on to each other for ever.
  const passed = [...(process.env[PASSED] ?? "").split(delimiter), realpathSync(process.argv[1] ?? "")];
  const next = nextKeyring(passed);
  if (next === undefined) return 1;
  const env = { ...process.env, [PASSED]: passed.join(delimiter) };
  const [code] = (await once(spawn(next, args, { stdio: "inherit", env }), "exit")) as [number | null];
  return code ?? 1;
}

/** The first `keyring` of the PATH that is not one of these files. */
function nextKeyring(passed: readonly string[]): string | undefined {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter).filter((one) => one !== "")) {
    const path = join(folder, "keyring");
    try {
      accessSync(path, constants.X_OK);
      if (!passed.includes(realpathSync(path))) return path;
    } catch {
      // None in this folder.
    }
  }
  return undefined;
}
