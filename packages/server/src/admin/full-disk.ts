import { describeFullFolders } from "@moorage/kernel/lib/disk-space";
import { errorCode } from "@moorage/kernel/lib/error-code";
import { StoreError } from "@moorage/kernel/store";

const SQLITE_FULL = 13;

/**
 * Runs the work, which writes into the folders. Where it fails for lack of space, throws a StoreError that says in one
 * line which folder is full, and on which file system.
 */
export async function namingFullDisk<T>(folders: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreError || !isFull(error)) throw error;
    throw new StoreError(`no space left in ${describeFullFolders(folders)}`, { cause: error });
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
