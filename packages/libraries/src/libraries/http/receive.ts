import { createHash, randomBytes } from "node:crypto";
import { type BlobStore, type ByteSource, SMALL_BLOB_BYTES, type StoredBlob } from "@moorage/kernel/blobs";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Clock } from "@moorage/kernel/lib/clock";
import { settleCopy } from "@moorage/registry/oci";
import { libraryError } from "./errors.ts";

/** A file that has arrived and is not a blob yet. The sums are in hex. */
export interface ReceivedFile {
  /** Where its bytes are: in memory, or as an upload of the blob store, by its id. */
  held: { content: Buffer } | { upload: string };
  size: number;
  md5: string;
  sha1: string;
  sha256: string;
  sha512: string;
}

const ALGORITHMS = ["md5", "sha1", "sha256", "sha512"] as const;

/**
 * Takes the bytes of a file as they come, and sums them: a small one into memory, a larger one into the blob store.
 * Nothing of it stays when the source fails. Throws 413 for more than `maxBytes`. What it returns must be given to
 * `keepFiles` or `dropFile`.
 */
export async function receiveFile(
  blobs: BlobStore,
  source: ByteSource,
  { maxBytes }: { maxBytes: number },
): Promise<ReceivedFile> {
  const hashes = ALGORITHMS.map((algorithm) => createHash(algorithm));
  let size = 0;
  async function* summed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      size += chunk.byteLength;
      if (size > maxBytes) throw libraryError(413, `Invalid argument: the file has more than ${maxBytes} bytes`);
      for (const hash of hashes) hash.update(chunk);
      yield chunk;
    }
  }
  const chunks = summed();
  const head: Uint8Array[] = [];
  let isWhole = false;
  while (!isWhole && size <= SMALL_BLOB_BYTES) {
    const { done = false, value } = await chunks.next();
    isWhole = done;
    if (!done) head.push(value);
  }
  const content = Buffer.concat(head);
  const held = isWhole ? { content } : { upload: await upload(blobs, content, chunks) };
  const [md5 = "", sha1 = "", sha256 = "", sha512 = ""] = hashes.map((hash) => hash.digest("hex"));
  return { held, size, md5, sha1, sha256, sha512 };
}

/** Stores the content and what follows it as an upload. Answers its id. Nothing stays when it fails. */
async function upload(blobs: BlobStore, content: Uint8Array, rest: AsyncGenerator<Uint8Array>): Promise<string> {
  const id = randomBytes(16).toString("hex");
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* oneChunk(content);
    yield* rest;
  }
  try {
    await blobs.startUpload(id);
    await blobs.append(id, 0, all(), { algorithm: "sha256", keepPartial: false });
    return id;
  } catch (error) {
    await rest.return(undefined);
    await blobs.removeUpload(id);
    throw error;
  }
}

/** A source of these bytes alone. */
export async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

/** Forgets a file that was received. */
export async function dropFile(blobs: Pick<BlobStore, "removeUpload">, { held }: ReceivedFile): Promise<void> {
  if ("upload" in held) await blobs.removeUpload(held.upload);
}

/** Makes a received file a blob, durably. */
async function finish(blobs: BlobStore, { held, sha256 }: ReceivedFile): Promise<StoredBlob> {
  const digest = `sha256:${sha256}`;
  return "upload" in held ? await blobs.finish(held.upload, digest) : await blobs.storeWhole(held.content, digest);
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
 * Makes received files blobs, durably, and then has `write` record them in one transaction: it answers the generation
 * to retain of each, in the same order, as `addFile` answers it. When `write` rejects, nothing stays. After any other
 * error the content may be in use: what is not is removed later, with that of uploads that were given up.
 */
export async function keepFiles(
  deps: { blobs: BlobStore; transactor: Transactor; clock: Clock },
  received: readonly ReceivedFile[],
  write: (stored: readonly StoredBlob[]) => Promise<{ generations: readonly string[] }>,
): Promise<void> {
  const { blobs } = deps;
  const stored: StoredBlob[] = [];
  const removeAll = async (): Promise<void> => {
    for (const { digest, generation } of stored) await blobs.remove(digest, generation);
    for (const file of received.slice(stored.length)) await dropFile(blobs, file);
  };
  let generations: readonly string[];
  try {
    for (const file of received) stored.push(await finish(blobs, file));
    ({ generations } = await write(stored));
  } catch (error) {
    if (error instanceof MoorageError && REJECTED.includes(error.code)) await removeAll();
    throw error;
  }
  for (const [at, blob] of stored.entries()) await settleCopy(deps, blob, generations[at]);
}
