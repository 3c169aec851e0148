import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { type BlobStore, SMALL_BLOB_BYTES } from "@moorage/kernel/blobs";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { hashOf } from "./json-lines.ts";

/** The row of a blob in the database. */
export interface BlobRow {
  digest: string;
  generation: string;
  size: number;
}

/**
 * The result of copying one blob. `missing`: the store does not have it. `damaged`: the stored content differs from its
 * digest or size.
 */
export type Copied = "copied" | "kept" | "missing" | "damaged";

/**
 * Copies a blob to a file, unless the file has it already. The file's modification time records when its content was
 * last verified; from `sinceMs` on (milliseconds since 1970) it is not verified again. `onBytes` is called with the
 * number of bytes done.
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
    const isVerified = found.mtimeMs >= sinceMs;
    if (isVerified || (await hashOf(path, algorithm)) === hex) {
      if (!isVerified) await utimes(path, new Date(), new Date());
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
    // The store passes the next chunk before this one is written, so each is written at its own position.
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
    if (error instanceof MoorageError && error.code === Code.DataLoss) return "damaged";
    // Failures of a disk or a server have codes; an error without one means that the content ends too early.
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
 * Reads a whole blob, whatever its size. The sink gets the chunks in order, possibly before its previous call has
 * resolved; a chunk's memory is reused once its call has.
 */
export async function readBlob(blobs: BlobStore, row: BlobRow, sink: (chunk: Buffer) => Promise<void>): Promise<void> {
  if (row.size <= SMALL_BLOB_BYTES) await sink(await blobs.readWhole(row.digest, row.generation));
  else await blobs.readAll(row, sink);
}
