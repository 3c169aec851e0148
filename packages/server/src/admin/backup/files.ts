import { constants } from "node:fs";
import { copyFile, link, mkdir, open, opendir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "@moorage/kernel/lib/error-code";
import type { BlobRow } from "../blob-files.ts";

// Blobs have the same paths in a backup as in a data folder; see blobs/filesystem-layout.ts.

const CANNOT_LINK: ReadonlySet<unknown> = new Set(["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS"]);
const BLOB_FILE = /^([0-9a-f]{64,128})\.([0-9a-f]{16})$/;

/** The path of a blob's file below the root. */
export function blobFile(root: string, { digest, generation }: Pick<BlobRow, "digest" | "generation">): string {
  const [algorithm = "", hex = ""] = digest.split(":");
  return join(root, "blobs", algorithm, hex.slice(0, 2), `${hex}.${generation}`);
}

/** The blobs whose files are below the root. */
export async function* blobsBelow(root: string): AsyncGenerator<Pick<BlobRow, "digest" | "generation">> {
  for (const algorithm of ["sha256", "sha512"]) {
    const folder = join(root, "blobs", algorithm);
    for await (const shard of await openIfThere(folder)) {
      for await (const { name } of await openIfThere(join(folder, shard.name))) {
        const [, hex, generation] = BLOB_FILE.exec(name) ?? [];
        if (hex && generation) yield { digest: `${algorithm}:${hex}`, generation };
      }
    }
  }
}

async function openIfThere(folder: string): Promise<AsyncIterable<{ name: string }>> {
  return opendir(folder).catch((error: unknown) => {
    if (isMissing(error)) return (async function* () {})();
    throw error;
  });
}

/**
 * Hard-links a file that is never written to again, or copies it where it cannot be linked. Does nothing when `to`
 * exists. Returns false when `from` does not exist.
 */
export async function linkOrCopy(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  try {
    await link(from, to);
  } catch (error) {
    if (isMissing(error)) return false;
    if (errorCode(error) === "EEXIST") return true;
    if (!CANNOT_LINK.has(errorCode(error))) throw error;
    return copyDurably(from, to);
  }
  return true;
}

/** Copies a file, and waits until the copy is on disk. Returns false when `from` does not exist. */
export async function copyDurably(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if (isMissing(error)) return false;
    await rm(to, { force: true });
    throw error;
  }
  await using file = await open(to, "r+");
  await file.sync();
  return true;
}

/** Syncs the folder and those below it to disk, so that the names in them are durable. */
export async function syncFolders(folder: string): Promise<void> {
  for await (const entry of await opendir(folder)) if (entry.isDirectory()) await syncFolders(join(folder, entry.name));
  await using handle = await open(folder, "r");
  await handle.sync();
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === "ENOENT";
}
