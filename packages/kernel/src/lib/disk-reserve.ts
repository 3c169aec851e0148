import { randomFillSync } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

/**
 * Space that is kept for the time when the disk is full: a file that is removed then, so that deletes and garbage
 * collection, which write before they free anything, still work. All processes of a data folder share it. None of its
 * functions throws: what fails is reported, and attempted again after a growing pause.
 */
export interface DiskReserve {
  /** Whether the disk was full and the space is not back yet: then only what frees space, or is small, is written. */
  isFull(): boolean;
  /** Gives the space up. Call it when a write failed for lack of space. Answers whether that may help. */
  release(): boolean;
  /** Takes the space again, if twice as much is free; looks at most once a second. */
  restore(): void;
}

export interface DiskReserveOptions {
  /** Called with each error of the file system, and with undefined when an attempt succeeds after one that failed. */
  onFault?(error: unknown): void;
}

const CHUNK_BYTES = 1 << 20;
const LOOK_EVERY_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const RESERVE = "disk-reserve";
const FULL = "disk-full";

/** With `bytes` 0 there is no reserve, and the disk is never said to be full. */
export function diskReserve(
  dataDir: string,
  bytes: number,
  { onFault = () => {} }: DiskReserveOptions = {},
): DiskReserve {
  if (bytes === 0) return { isFull: () => false, release: () => false, restore: () => {} };
  const reserve = join(dataDir, RESERVE);
  const full = join(dataDir, FULL);
  let lookMs = -Infinity;
  let failures = 0;
  // Set where the file that says so to the other processes cannot be written.
  let isFullHere = false;
  const isFull = (): boolean => isFullHere || existsSync(full);
  const worked = (): void => {
    if (failures === 0) return;
    failures = 0;
    onFault(undefined);
  };
  return {
    isFull,
    release() {
      try {
        if (!existsSync(reserve)) return false;
        rmSync(reserve, { force: true });
      } catch (error) {
        onFault(error);
        return false;
      }
      try {
        writeFileSync(full, "");
      } catch (error) {
        isFullHere = true;
        onFault(error);
      }
      return true;
    },
    restore() {
      const nowMs = performance.now();
      if (nowMs < lookMs) return;
      lookMs = nowMs + LOOK_EVERY_MS;
      try {
        if (!isWhole(reserve, bytes) || isFull()) {
          const { bavail, bsize } = statfsSync(dataDir);
          if (bavail * bsize < 2 * bytes) return worked();
          fill(reserve, bytes);
          rmSync(full, { force: true });
          isFullHere = false;
        }
        worked();
      } catch (error) {
        failures += 1;
        lookMs = nowMs + Math.min(LOOK_EVERY_MS * 2 ** failures, LONGEST_PAUSE_MS);
        onFault(error);
      }
    },
  };
}

/** Whether the file is there in its full size: a process may have ended while it wrote it. */
function isWhole(path: string, bytes: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size >= bytes;
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
