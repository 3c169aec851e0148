import { type BlobStore, type ByteSource, SMALL_BLOB_BYTES, type StoredBlob, type StoreOptions } from "./blob-store.ts";
import { free, wrongLength } from "./transfer.ts";

/** Reads a blob of any size into memory: the caller bounds the size. */
export async function readInto(blobs: Pick<BlobStore, "readWhole" | "readAll">, blob: StoredBlob): Promise<Uint8Array> {
  if (blob.size <= SMALL_BLOB_BYTES) return await blobs.readWhole(blob.digest, blob.generation);
  const chunks: Buffer[] = [];
  await blobs.readAll(blob, async (chunk) => {
    chunks.push(Buffer.from(chunk));
  });
  return Buffer.concat(chunks);
}

/** The beginning of a source: all of it, unless there is `rest`, which repeats it. */
export interface SourceStart {
  content: Buffer;
  rest?: ByteSource;
}

/**
 * Reads a source until it ends, or is larger than a small blob. Throws its error, and INVALID_ARGUMENT on `length` when
 * a small one has not the announced length.
 */
export async function startOf(source: ByteSource, { length, givesChunks }: StoreOptions): Promise<SourceStart> {
  if (length !== undefined && length > SMALL_BLOB_BYTES) return { content: Buffer.alloc(0), rest: source };
  const iterator: AsyncIterator<Uint8Array> = source[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) break;
    const chunk: Uint8Array = next.value;
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > (length ?? bytes)) {
      await iterator.return?.();
      throw wrongLength();
    }
    if (bytes > SMALL_BLOB_BYTES) return { content: Buffer.alloc(0), rest: joined(chunks, iterator) };
  }
  if (bytes < (length ?? bytes)) throw wrongLength();
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1)
    return { content: Buffer.from(only.buffer, only.byteOffset, only.length) };
  const content = Buffer.concat(chunks);
  if (givesChunks === true) for (const chunk of chunks) free(chunk);
  return { content };
}

async function* joined(start: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* start;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
