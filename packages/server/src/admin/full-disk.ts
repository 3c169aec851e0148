import { statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, resolve } from "node:path";
import { errorCode } from "../lib/error-code.ts";
import { StoreError } from "../store/index.ts";

const SQLITE_FULL = 13;
const LITTLE_BYTES = 1 << 20;

/**
 * Runs the work, which writes into the folders. Where it fails for lack of space, throws a StoreError that says in one
 * line which folder is full, and on which file system.
 */
export async function namingFullDisk<T>(folders: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreError || !isFull(error)) throw error;
    throw new StoreError(`no space left in ${described(fullOf(folders))}`, { cause: error });
  }
}

/** Whether the operating system or SQLite found no space, whatever the error was wrapped in. */
function isFull(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (["ENOSPC", "EDQUOT"].includes(String(errorCode(each)))) return true;
    if ("errcode" in each && typeof each.errcode === "number" && (each.errcode & 0xff) === SQLITE_FULL) return true;
  }
  return false;
}

/** Those that are full; all of them where none looks so, since what was written may be gone already. */
function fullOf(folders: readonly string[]): readonly string[] {
  const full = folders.filter((folder) => {
    const { bavail, bsize, files, ffree } = statfsSync(existing(folder));
    return bavail * bsize < LITTLE_BYTES || (files > 0 && ffree === 0);
  });
  return full.length > 0 ? full : folders;
}

function described(folders: readonly string[]): string {
  return folders
    .map((folder) => {
      const { bavail, bsize, blocks, files, ffree } = statfsSync(existing(folder));
      const bytes = `${bavail * bsize} of ${blocks * bsize} bytes`;
      const inodes = files === 0 ? "" : ` and ${ffree} of ${files} files`;
      const hint = folder === tmpdir() ? "; TMPDIR names another folder for temporary files" : "";
      return `${folder}, on the file system of ${mountPoint(existing(folder))}: ${bytes}${inodes} are free${hint}`;
    })
    .join(", or in ");
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
