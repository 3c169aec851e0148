import { type BlobStore, SMALL_BLOB_BYTES, type StoredBlob } from "./blob-store.ts";

/** Reads a blob of any size into memory: the caller bounds the size. */
export async function readInto(
  blobs: Pick<BlobStore, "readWhole" | "read">,
  { digest, generation, size }: StoredBlob,
): Promise<Uint8Array> {
  if (size <= SMALL_BLOB_BYTES) return await blobs.readWhole(digest, generation);
  const chunks: Buffer[] = [];
  await blobs.read(digest, generation, { start: 0, end: size - 1 }, async (chunk) => {
    chunks.push(Buffer.from(chunk));
  });
  return Buffer.concat(chunks);
}
