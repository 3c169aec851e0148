import type { ListedBlob, ListedUpload } from "./blob-store.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import type { S3Keys } from "./s3-keys.ts";

/** All uploads; also those of which only multipart uploads are left, because a process ended between two steps. */
export async function* listUploads(bucket: S3Bucket, keys: S3Keys): AsyncGenerator<ListedUpload> {
  const open = await openUploads(bucket, keys);
  let current: ListedUpload | undefined;
  for await (const { key, modifiedMs } of bucket.list(keys.uploads)) {
    const id = keys.uploadOf(key);
    if (!id) continue;
    if (current && current.id !== id) yield current;
    const before = current?.id === id ? current.modifiedMs : (open.get(id) ?? 0);
    current = { id, modifiedMs: Math.max(before, modifiedMs) };
    open.delete(id);
  }
  if (current) yield current;
  for (const [id, modifiedMs] of open) yield { id, modifiedMs };
}

/** The uploads that have multipart uploads under way, with the times of their last parts. */
async function openUploads(bucket: S3Bucket, keys: S3Keys): Promise<Map<string, number>> {
  const open = new Map<string, number>();
  for await (const multipart of bucket.listMultiparts(keys.uploads)) {
    const id = keys.uploadOf(multipart.key);
    if (id) open.set(id, Math.max(open.get(id) ?? 0, await bucket.lastPartMs(multipart)));
  }
  return open;
}

/** All blobs. Objects with other keys are left out. */
export async function* listBlobs(bucket: S3Bucket, keys: S3Keys): AsyncGenerator<ListedBlob> {
  for await (const { key, size, modifiedMs } of bucket.list(keys.blobs)) {
    const blob = keys.blobOf(key);
    if (blob) yield { ...blob, size, modifiedMs };
  }
}
