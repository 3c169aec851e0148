import { existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A folder below the system's folder for temporary files, for its owner alone. */
export interface TempFolder {
  /** Empty at first. */
  readonly path: string;
  /** Removes it with all that is in it. */
  remove(): Promise<void>;
}

/** What processes of Moorage have temporary folders for: a part of their names. */
const PURPOSES = ["catalog", "feed", "fsck", "demo", "libraries", "tuf"] as const;

// The system's folder holds:
//
//   moorage-<purpose>-<random>/owner.lock   locked by the process that made the folder, as long as it lives
//   moorage-<purpose>-<random>/files/       what it is for
//   .moorage-<random>/                      one that is being made
const LOCK = "owner.lock";
const UNFINISHED = ".moorage-";
const PREFIXES = [UNFINISHED, ...PURPOSES.map((purpose) => `moorage-${purpose}-`)];
const RANDOM = /^[A-Za-z0-9]{6}$/;
const isOurs = (name: string): boolean =>
  PREFIXES.some((prefix) => name.startsWith(prefix) && RANDOM.test(name.slice(prefix.length)));
/** A folder without a lock is of an older version, or its file system has no locks: nobody works in it for so long. */
const MAX_UNLOCKED_AGE_MS = 7 * 86_400_000;

/** The locks of this process's folders: one that nothing refers to would be released with its object. */
const locks = new Set<DatabaseSync>();

/**
 * Makes a folder that removeOrphanedTempFolders removes when this process ends without having done so. Throws when it
 * cannot be made.
 */
export function makeTempFolder(purpose: (typeof PURPOSES)[number]): TempFolder {
  const unfinished = mkdtempSync(join(tmpdir(), UNFINISHED));
  const folder = join(tmpdir(), `moorage-${purpose}-${unfinished.slice(-6)}`);
  let lock: DatabaseSync | undefined;
  try {
    mkdirSync(join(unfinished, "files"));
    lock = takeLock(join(unfinished, LOCK));
    // Only now, that it is locked, it has a name at which others look.
    renameSync(unfinished, folder);
  } catch (error) {
    lock?.close();
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
  if (lock !== undefined) locks.add(lock);
  return {
    path: join(folder, "files"),
    async remove() {
      await rm(folder, { recursive: true, force: true });
      if (lock !== undefined && locks.delete(lock)) lock.close();
    },
  };
}

/**
 * Removes the temporary folders of processes that ended without doing so, those of this user alone. Answers their
 * paths. Throws when the system's folder cannot be read.
 */
export async function removeOrphanedTempFolders(): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await readdir(tmpdir())) {
    const path = join(tmpdir(), name);
    if (!isOurs(name) || !isOrphaned(path)) continue;
    await rm(path, { recursive: true, force: true });
    removed.push(path);
  }
  return removed;
}

function isOrphaned(folder: string): boolean {
  try {
    const stat = lstatSync(folder);
    if (!stat.isDirectory() || stat.uid !== (process.getuid?.() ?? stat.uid)) return false;
    const path = join(folder, LOCK);
    if (!existsSync(path)) return Date.now() - stat.mtimeMs > MAX_UNLOCKED_AGE_MS;
    const lock = takeLock(path);
    lock?.close();
    return lock !== undefined;
  } catch {
    // Another process has just removed it.
    return false;
  }
}

/** An SQLite lock: the operating system releases it however the process ends. Undefined when it cannot be had. */
function takeLock(path: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec("pragma locking_mode = exclusive; begin exclusive");
    return lock;
  } catch {
    lock.close();
    return undefined;
  }
}
