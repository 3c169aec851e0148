import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { type BlobStore, SMALL_BLOB_BYTES } from "../blobs/index.ts";
import { Code, MoorageError } from "../errors.ts";
import { hashOf } from "./json-lines.ts";

/** What the database says of a blob. */
export interface BlobRow {
  digest: string;
  generation: string;
  size: number;
}

/**
 * How the copying of one blob ended. `missing`: the store has it no longer. `damaged`: what it has is something else.
 */
export type Copied = "copied" | "kept" | "missing" | "damaged";

/**
 * Makes a file that holds the blob, and sees to it that it does: one that is there is kept when it is right. The file's
 * time says when that was looked at last; from `sinceMs` on it is not looked at again. `onBytes` is told of bytes as
 * they are done.
 */
export async function copyBlob(
  blobs: BlobStore,
  { digest, generation, size }: BlobRow,
  path: string,
  sinceMs: number,
  onBytes: (bytes: number) => void,
): Promise<Copied> {
  const [algorithm = "", hex = ""] = digest.split(":");
  const found = await stat(path).catch(() => undefined);
  if (found?.size === size) {
    const isKnown = found.mtimeMs >= sinceMs;
    if (isKnown || (await hashOf(path, algorithm)) === hex) {
      if (!isKnown) await utimes(path, new Date(), new Date());
      onBytes(size);
      return "kept";
    }
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const part = `${path}.part`;
  const hash = createHash(algorithm);
  let bytes = 0;
  try {
    await using file = await open(part, "w", 0o600);
    // Stores give the next chunk before this one is done with: each has its place, whichever is written first.
    const take = async (chunk: Buffer): Promise<void> => {
      const at = bytes;
      hash.update(chunk);
      bytes += chunk.length;
      await writeAt(file, chunk, at);
      onBytes(chunk.length);
    };
    await readBlob(blobs, { digest, generation, size }, take);
    await file.sync();
  } catch (error) {
    await rm(part, { force: true });
    if (error instanceof MoorageError && error.code === Code.NotFound) return "missing";
    // Failures of a disk or of a server have codes; this is content that ends too early.
    if (error instanceof Error && !("code" in error)) return "damaged";
    throw error;
  }
  if (bytes !== size || hash.digest("hex") !== hex) {
    await rm(part, { force: true });
    return "damaged";
  }
  await rename(part, path);
  return "copied";
}

async function writeAt(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let done = 0; done < chunk.length;)
    done += (await file.write(chunk, done, chunk.length - done, position + done)).bytesWritten;
}

/**
 * Reads a whole blob, whatever its size. The sink is called in the order of the chunks, but not only once the one
 * before has resolved; then its chunk is reused.
 */
export async function readBlob(
  blobs: BlobStore,
  { digest, generation, size }: BlobRow,
  sink: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  if (size <= SMALL_BLOB_BYTES) await sink(await blobs.readWhole(digest, generation));
  else await blobs.read(digest, generation, { start: 0, end: size - 1 }, sink);
}
