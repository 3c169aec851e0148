import { createHash, randomBytes } from "node:crypto";
import type { BlobStore, ByteSource, StoredBlob } from "../../blobs/index.ts";
import { Code, MoorageError } from "../../errors.ts";
import type { LibraryDeps } from "./exchange.ts";
import { libraryError } from "./errors.ts";

/** A file that has arrived and is not a blob yet. The sums are in hex. */
export interface ReceivedFile {
  upload: string;
  size: number;
  md5: string;
  sha1: string;
  sha256: string;
  sha512: string;
}

/**
 * Stores the bytes of a file as they come, and sums them. Nothing of it stays when the source fails. Throws 413 for more
 * than `maxBytes`. What it returns must be given to `keepFile` or `dropFile`.
 */
export async function receiveFile(
  blobs: BlobStore,
  source: ByteSource,
  { maxBytes }: { maxBytes: number },
): Promise<ReceivedFile> {
  const upload = randomBytes(16).toString("hex");
  const sums = { md5: createHash("md5"), sha1: createHash("sha1"), sha256: createHash("sha256") };
  const sha512 = createHash("sha512");
  let size = 0;
  async function* summed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      size += chunk.byteLength;
      if (size > maxBytes) throw libraryError(413, `Invalid argument: the file has more than ${maxBytes} bytes`);
      for (const sum of [...Object.values(sums), sha512]) sum.update(chunk);
      yield chunk;
    }
  }
  await blobs.startUpload(upload);
  try {
    await blobs.append(upload, 0, summed(), { algorithm: "sha256", keepPartial: false });
  } catch (error) {
    await blobs.removeUpload(upload);
    throw error;
  }
  return {
    upload,
    size,
    md5: sums.md5.digest("hex"),
    sha1: sums.sha1.digest("hex"),
    sha256: sums.sha256.digest("hex"),
    sha512: sha512.digest("hex"),
  };
}

/** Forgets a file that was received. */
export async function dropFile(blobs: Pick<BlobStore, "removeUpload">, { upload }: ReceivedFile): Promise<void> {
  await blobs.removeUpload(upload);
}

/** The errors of commands that mean that nothing was written. */
const REJECTED: readonly Code[] = [
  Code.NotFound,
  Code.PermissionDenied,
  Code.InvalidArgument,
  Code.FailedPrecondition,
  Code.AlreadyExists,
];

/**
 * Makes received files blobs, durably, and then has `write` record them in one transaction: it answers the generation to
 * retain of each, in the same order, as `addFile` answers it. When `write` rejects, nothing stays. After any other error
 * the content may be in use: what is not is removed later, with that of uploads that were given up.
 */
export async function keepFiles(
  { blobs }: Pick<LibraryDeps, "blobs">,
  received: readonly ReceivedFile[],
  write: (stored: readonly StoredBlob[]) => Promise<{ generations: readonly string[] }>,
): Promise<void> {
  const stored: StoredBlob[] = [];
  const removeAll = async (): Promise<void> => {
    for (const { digest, generation } of stored) await blobs.remove(digest, generation);
    for (const file of received.slice(stored.length)) await dropFile(blobs, file);
  };
  let generations: readonly string[];
  try {
    for (const { upload, sha256 } of received) stored.push(await blobs.finish(upload, `sha256:${sha256}`));
    ({ generations } = await write(stored));
  } catch (error) {
    if (error instanceof MoorageError && REJECTED.includes(error.code)) await removeAll();
    throw error;
  }
  for (const [at, { digest, generation }] of stored.entries())
    if (generations[at] !== generation) await blobs.remove(digest, generation);
}
