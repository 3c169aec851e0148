import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "../bundle/lock.ts";
import { isUpToDate } from "./state.ts";

const LIMIT_MS = 100_000;

/**
 * Makes the files that git does not have (scripts/gen/main.ts) when one is missing or a source is newer. Looking takes
 * some milliseconds. Of processes that need them at the same time one makes them while the others wait. Throws with
 * what the program has printed when they cannot be made.
 */
export async function makeIfStale(root = join(import.meta.dirname, "../..")): Promise<void> {
  const program = join(root, "scripts/gen/main.ts");
  if (!existsSync(program) || isUpToDate(root)) return;
  mkdirSync(join(root, "build"), { recursive: true });
  const release = await takeLock(join(root, "build/generated.lock"), () => isUpToDate(root));
  try {
    if (!isUpToDate(root)) run(program);
  } finally {
    release();
  }
}

function run(program: string): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], { encoding: "utf8", timeout: LIMIT_MS });
  if (status !== 0) throw new Error(`generated files could not be made:\n${stdout}${stderr}`);
}
