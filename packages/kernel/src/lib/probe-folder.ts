import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";

// More than one block, so that a quota or a full disk shows.
const PROBE = Buffer.alloc(16_384);

/**
 * Writes a small file into the folder and removes it again. Throws the error of the operating system when that cannot
 * be done. It blocks the thread until the disk answers: a server that answers requests uses `probeFolderInBackground`.
 */
export function probeFolder(folder: string): void {
  const path = probePath(folder);
  const file = openSync(path, "wx", 0o600);
  try {
    let written = 0;
    while (written < PROBE.length) written += writeSync(file, PROBE, written);
    fsyncSync(file);
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}

const underWay = new Map<string, Promise<void>>();

/**
 * The same without blocking the thread. As long as a probe of the folder has no answer, its promise is answered again:
 * a disk that hangs holds one thread of the pool, however often it is asked.
 */
export function probeFolderInBackground(folder: string): Promise<void> {
  const before = underWay.get(folder);
  if (before !== undefined) return before;
  const probe = writeProbe(probePath(folder)).finally(() => underWay.delete(folder));
  underWay.set(folder, probe);
  return probe;
}

async function writeProbe(path: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(PROBE);
    await file.sync();
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

function probePath(folder: string): string {
  return join(folder, `.probe-${randomUUID()}`);
}
