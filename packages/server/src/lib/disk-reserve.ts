import { randomFillSync } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/**
 * Space that is kept for the time when the disk is full: a file that is removed then, so that deletes and garbage
 * collection, which write before they free anything, still work. All processes of a data folder share it.
 */
export interface DiskReserve {
  /** Whether the disk was full and the space is not back yet: then only what frees space, or is small, is written. */
  isFull(): boolean;
  /** Gives the space up. Call it when a write failed for lack of space. Answers whether that may help. */
  release(): boolean;
  /** Takes the space again, if twice as much is free; looks at most once a second. */
  restore(): void;
}

const CHUNK_BYTES = 1 << 20;
const LOOK_EVERY_MS = 1_000;
const RESERVE = "disk-reserve";
const FULL = "disk-full";

/** With `bytes` 0 there is no reserve, and the disk is never said to be full. */
export function diskReserve(dataDir: string, bytes: number): DiskReserve {
  if (bytes === 0) return { isFull: () => false, release: () => false, restore: () => {} };
  const reserve = join(dataDir, RESERVE);
  const full = join(dataDir, FULL);
  let lookedMs = -Infinity;
  return {
    isFull: () => existsSync(full),
    release() {
      if (!existsSync(reserve)) return false;
      rmSync(reserve, { force: true });
      writeFileSync(full, "");
      return true;
    },
    restore() {
      const nowMs = performance.now();
      if (nowMs - lookedMs < LOOK_EVERY_MS) return;
      lookedMs = nowMs;
      if (existsSync(reserve) && !existsSync(full)) return;
      const { bavail, bsize } = statfsSync(dataDir);
      if (bavail * bsize < 2 * bytes) return;
      fill(reserve, bytes);
      rmSync(full, { force: true });
    },
  };
}

/** Writes random bytes: a file system that compresses would reserve nothing for others. */
function fill(path: string, bytes: number): void {
  const chunk = randomFillSync(Buffer.alloc(Math.min(CHUNK_BYTES, bytes)));
  const file = openSync(path, "w");
  try {
    for (let written = 0; written < bytes; written += chunk.length) writeSync(file, chunk);
    fsyncSync(file);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}
