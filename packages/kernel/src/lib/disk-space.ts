import { type StatsFs, statfsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const LITTLE_BYTES = 1 << 20;
const LOOK_TIMEOUT_MS = 1_000;

/** What a file system has left, in bytes and in files. `files` and `freeFiles` are 0 where it does not count files. */
export interface DiskSpace {
  freeBytes: number;
  totalBytes: number;
  freeFiles: number;
  files: number;
}

/** The answers that are waited for, by folder. */
const looking = new Map<string, Promise<StatsFs | undefined>>();

/**
 * The space of the folder's file system. Undefined when it cannot be said within a second, or there is no folder. Of a
 * folder only one answer is waited for: a disk that hangs keeps a thread of the process for each, which has few.
 */
export async function spaceOf(folder: string): Promise<DiskSpace | undefined> {
  let look = looking.get(folder);
  if (look === undefined) {
    look = statfs(folder)
      .catch(() => undefined)
      .finally(() => looking.delete(folder));
    looking.set(folder, look);
  }
  const found = await Promise.race([look, pause(LOOK_TIMEOUT_MS, undefined, { ref: false })]);
  if (found === undefined) return undefined;
  const { bavail, bsize, blocks, files, ffree } = found;
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, freeFiles: ffree, files };
}

/** Whether little of the space is left: less than a MiB, or not a single file. */
export function isScarce({ freeBytes, files, freeFiles }: DiskSpace): boolean {
  return freeBytes < LITTLE_BYTES || (files > 0 && freeFiles === 0);
}

/** "0 of 83886080 bytes free", with the number of files where the file system counts them. */
export function describeSpace({ freeBytes, totalBytes, freeFiles, files }: DiskSpace): string {
  const counted = files === 0 ? "" : ` and ${freeFiles} of ${files} files`;
  return `${freeBytes} of ${totalBytes} bytes${counted}`;
}

/**
 * The folders, each with its file system and what is left of it, in one line. Those that are full; all of them where
 * none looks so, since what was written may be gone already. Waits for the file systems.
 */
export function describeFullFolders(folders: readonly string[]): string {
  const looked = folders.map((folder) => ({ folder, place: existing(folder), space: spaceSync(existing(folder)) }));
  const full = looked.filter(({ space }) => isScarce(space));
  return (full.length > 0 ? full : looked)
    .map(({ folder, place, space }) => {
      const hint = folder === tmpdir() ? "; TMPDIR names another folder for temporary files" : "";
      return `${folder}, on the file system of ${mountPoint(place)}: ${describeSpace(space)} are free${hint}`;
    })
    .join(", or in ");
}

function spaceSync(folder: string): DiskSpace {
  const { bavail, bsize, blocks, files, ffree } = statfsSync(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, freeFiles: ffree, files };
}

/** The folder, or the first one above it that is there. */
function existing(folder: string): string {
  let found = resolve(folder);
  while (statSync(found, { throwIfNoEntry: false }) === undefined && dirname(found) !== found) found = dirname(found);
  return found;
}

/** The highest folder on the same file system. */
function mountPoint(folder: string): string {
  const device = statSync(folder).dev;
  let found = folder;
  while (dirname(found) !== found && statSync(dirname(found)).dev === device) found = dirname(found);
  return found;
}
