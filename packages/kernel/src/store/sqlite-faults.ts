import { statSync } from "node:fs";
import { dirname } from "node:path";
import { MoorageError, type StorageReason } from "../errors.ts";
import { describeDamage, isDamage } from "./damage.ts";
import { probeFolder } from "../lib/probe-folder.ts";
import { fileFault, storageFault } from "../lib/storage-fault.ts";

// Primary result codes. Source: https://www.sqlite.org/rescode.html
const NO_PERMISSION = 3;
const NO_MEMORY = 7;
const READ_ONLY = 8;
const IO_ERROR = 10;
const FULL = 13;
const CANNOT_OPEN = 14;
const REASONS: ReadonlyMap<number, StorageReason> = new Map([
  [NO_PERMISSION, "denied"],
  [NO_MEMORY, "out_of_memory"],
  [READ_ONLY, "read_only"],
  [IO_ERROR, "io_error"],
  [FULL, "full"],
  [CANNOT_OPEN, "io_error"],
]);
// SQLite reports these for a quota, for too many open files, for a folder that is gone alike: the folder is asked.
const VAGUE: ReadonlySet<number> = new Set([READ_ONLY, IO_ERROR, CANNOT_OPEN]);

/**
 * Translates an error of SQLite on the file at `path` to the fault of the storage that it stands for. Errors that stand
 * for none are returned unchanged; one that says that the file is damaged names it from then on.
 */
export function sqliteMeaning(error: unknown, path: string): unknown {
  if (isDamage(error)) return withFile(error, path);
  const code = codeOf(error);
  const reason = code === undefined ? undefined : REASONS.get(code);
  if (code === undefined || reason === undefined) return error;
  return storageFault(
    { part: "database", reason: (VAGUE.has(code) ? reasonOf(dirname(path)) : undefined) ?? reason },
    error,
  );
}

/** The same error, whose message names the file and what to do. */
function withFile(error: Error, path: string): Error {
  if (!error.message.includes(path)) error.message = `${error.message}: ${describeDamage(path)}`;
  return error;
}

const ASK_EVERY_MS = 1_000;
const asked = new Map<string, { atMs: number; reason: StorageReason | undefined }>();

/** Why nothing can be written into the folder; undefined when something can. Looks at most once a second. */
function reasonOf(folder: string): StorageReason | undefined {
  const nowMs = performance.now();
  const last = asked.get(folder);
  if (last !== undefined && nowMs - last.atMs < ASK_EVERY_MS) return last.reason;
  const reason = lookAt(folder);
  asked.set(folder, { atMs: nowMs, reason });
  return reason;
}

function lookAt(folder: string): StorageReason | undefined {
  try {
    probeFolder(folder);
    return undefined;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "missing";
    return fileFault(error);
  }
}

function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || error instanceof MoorageError) return undefined;
  return "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

/** Which file a path led to: a file system that is unmounted, or a restored file, makes it another. */
export interface FileIdentity {
  device: bigint;
  inode: bigint;
}

/** Undefined when there is no file. */
export function identityOf(path: string): FileIdentity | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : { device: found.dev, inode: found.ino };
}

/**
 * Throws the fault when the path leads to no file, or to another than before: what is written to the open one would be
 * lost with it.
 */
export function requireSameFile(path: string, { device, inode }: FileIdentity): void {
  let found: FileIdentity | undefined;
  try {
    found = identityOf(path);
  } catch (error) {
    throw storageFault({ part: "database", reason: fileFault(error) ?? "io_error" }, error);
  }
  if (found?.device === device && found.inode === inode) return;
  const reason = found === undefined ? "missing" : "replaced";
  throw storageFault({ part: "database", reason }, new Error(`${path} is not the file that was opened`));
}
