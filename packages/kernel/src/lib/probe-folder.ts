import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";

// More than one block, so that a quota or a full disk shows.
const PROBE = Buffer.alloc(16_384);

/**
 * Writes a small file into the folder and removes it again. Throws the error of the operating system when that cannot
 * be done.
 */
export function probeFolder(folder: string): void {
  const path = join(folder, `.probe-${randomUUID()}`);
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
