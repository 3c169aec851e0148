import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const LOOK_EVERY_MS = 100;
/** Nothing that is locked takes so long. */
const LONGEST_MS = 120_000;

/**
 * Waits until this process has the lock, a file at that path, or until `isDone` holds. A lock that its process left
 * when it ended, or that is older than two minutes, is taken over. Returns what gives it back.
 */
export async function takeLock(path: string, isDone: () => boolean): Promise<() => void> {
  while (!isDone()) {
    try {
      writeFileSync(path, String(process.pid), { flag: "wx" });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (isLeft(path)) rmSync(path, { force: true });
    else await sleep(LOOK_EVERY_MS);
  }
  return () => {};
}

function isLeft(path: string): boolean {
  const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > LONGEST_MS || !isRunning(ownerOf(path));
}

/** The process that has the lock; undefined while it is being written, and when it was given back. */
function ownerOf(path: string): number | undefined {
  try {
    return Number(readFileSync(path, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number | undefined): boolean {
  if (pid === undefined) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
