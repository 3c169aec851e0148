import { readFileSync } from "node:fs";
import { readlink, rename, rm, symlink, unlink } from "node:fs/promises";
import { errorCode } from "../lib/error-code.ts";

/** The state of the request that works on an upload, in this or another process of the machine. */
export interface LockHolder {
  bytes: number;
}
/** A lock that this process holds. */
export interface Lock {
  release(): Promise<void>;
}

// A lock is a symbolic link without an existing target: it is created atomically, and its target text describes the
// holder: <pid>.<when that process started>.<a unique number>.<bytes of the upload>
const HOLDER = /^(\d+)\.(\d+)\.\d+\.(\d+)$/;
const STARTED = startOf(process.pid);

let taken = 0;

/**
 * Takes the lock of a file, exclusive among all processes of the machine; `<path>.lock` and `<path>.takeover` are
 * reserved for it. The lock of a process that has ended is taken over. Undefined when another process holds it. Costs
 * two file operations when there is no contention.
 */
export async function takeLock(path: string, bytes: number): Promise<Lock | undefined> {
  const mine = `${process.pid}.${STARTED ?? 0}.${taken++}.${bytes}`;
  if (!(await made(mine, lockOf(path))) && !(await takeOver(path, mine))) return undefined;
  return { release: () => unlink(lockOf(path)).catch(ignoreMissing) };
}

/** The process that works on the file now. Undefined when there is none, or it has ended. */
export async function lockHolder(path: string): Promise<LockHolder | undefined> {
  const holder = await read(lockOf(path));
  return holder !== undefined && isAlive(holder) ? { bytes: Number(HOLDER.exec(holder)?.[3] ?? 0) } : undefined;
}

/** Removes the lock files of a file that was removed, whoever created them. */
export async function removeLocks(path: string): Promise<void> {
  for (const lock of [lockOf(path), takeoverOf(path)]) await rm(lock, { force: true });
}

function lockOf(path: string): string {
  return `${path}.lock`;
}

function takeoverOf(path: string): string {
  return `${path}.takeover`;
}

/**
 * Only the holder of the second lock may replace the first, and checks the first again: so two processes that found the
 * same ended holder cannot both take over.
 */
async function takeOver(path: string, mine: string): Promise<boolean> {
  const [lock, takeover] = [lockOf(path), takeoverOf(path)];
  const seen = await read(lock);
  if (seen === undefined) return made(mine, lock);
  if (isAlive(seen) || !(await made(mine, takeover))) return false;
  if ((await read(lock)) !== seen) {
    await rm(takeover, { force: true });
    return false;
  }
  await rename(takeover, lock);
  return true;
}

async function made(target: string, path: string): Promise<boolean> {
  try {
    await symlink(target, path);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function ignoreMissing(error: unknown): void {
  if (errorCode(error) !== "ENOENT") throw error;
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function isAlive(holder: string): boolean {
  const [, pid, started] = HOLDER.exec(holder) ?? [];
  if (pid === undefined || started === undefined) return false;
  const now = startOf(Number(pid));
  if (now !== undefined) return started === now;
  if (STARTED !== undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/**
 * When a process started, in ticks since the machine did: it distinguishes processes that had the same pid one after
 * the other. Undefined when there is no such process, or no /proc.
 */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the program's name, may contain spaces and brackets.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
