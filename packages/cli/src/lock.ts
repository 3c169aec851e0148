// One process at a time changes a file: a folder beside it, which only one process can make, is the lock.
import { mkdirSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "./command/failure.ts";

const WAIT_MS = 20_000;
const STALE_MS = 60_000;
const POLL_MS = 50;

/**
 * Runs `work` while no other process holds the lock `<file>.lock`. Throws a Failure when another one holds it for long;
 * what `work` throws is thrown on.
 */
export async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`;
  await take(lock);
  try {
    return await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

async function take(lock: string): Promise<void> {
  const endMs = performance.now() + WAIT_MS;
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    // A process that held the lock for so long was killed: it makes one request at most, with a shorter time-out.
    const sinceMs = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    if (sinceMs !== undefined && Math.abs(Date.now() - sinceMs) > STALE_MS)
      rmSync(lock, { recursive: true, force: true });
    else if (performance.now() > endMs) throw new Failure(`${lock} is held by another process`);
    else await sleep(POLL_MS);
  }
}
