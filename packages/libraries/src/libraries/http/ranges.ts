import type { BlobStore, StoredBlob } from "@moorage/kernel/blobs";

/** Reads the bytes of a stored file from one offset up to, and without, another. */
export type ReadRange = (start: number, end: number) => Promise<Uint8Array>;

/** Reads parts of content that is in the blob store. */
export function rangesOf(
  blobs: Pick<BlobStore, "read">,
  { digest, generation }: Pick<StoredBlob, "digest" | "generation">,
): ReadRange {
  return async (start, end) => {
    const chunks: Uint8Array[] = [];
    if (end > start)
      await blobs.read(digest, generation, { start, end: end - 1 }, async (chunk) => {
        // The store uses its buffer again.
        chunks.push(Buffer.from(chunk));
      });
    return Buffer.concat(chunks);
  };
}
