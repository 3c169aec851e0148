import type { BlobStore } from "@moorage/kernel/blobs";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Freed } from "./commands.ts";

const REMOVAL_CONCURRENCY = 8;

/**
 * Removes content that no record refers to any longer, and answers its size in bytes. After a crash in between,
 * `cleanUploads` removes the rest once it is older than `uploadTtlMs`.
 */
export async function removeFreed(blobs: Pick<BlobStore, "remove">, freed: readonly Freed[]): Promise<number> {
  for (let at = 0; at < freed.length; at += REMOVAL_CONCURRENCY) {
    await Promise.all(
      freed.slice(at, at + REMOVAL_CONCURRENCY).map(({ digest, generation }) => blobs.remove(digest, generation)),
    );
  }
  return sumOf(freed);
}

/** The bytes of all of them. */
export function sumOf(rows: readonly { size: number }[]): number {
  return rows.reduce((bytes, { size }) => bytes + size, 0);
}

/**
 * Answers `nothing` where others change the same rows all the time: the work continues elsewhere, and a later run does
 * what is left.
 */
export async function unlessContended<T>(work: Promise<T>, nothing: T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof MoorageError && error.code === Code.Aborted) return nothing;
    throw error;
  }
}
