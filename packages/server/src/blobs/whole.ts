import { type BlobStore, SMALL_BLOB_BYTES, type StoredBlob } from "./blob-store.ts";

/** Reads a blob of any size into memory: the caller bounds the size. */
export async function readInto(blobs: Pick<BlobStore, "readWhole" | "readAll">, blob: StoredBlob): Promise<Uint8Array> {
  if (blob.size <= SMALL_BLOB_BYTES) return await blobs.readWhole(blob.digest, blob.generation);
  const chunks: Buffer[] = [];
  await blobs.readAll(blob, async (chunk) => {
    chunks.push(Buffer.from(chunk));
  });
  return Buffer.concat(chunks);
}
