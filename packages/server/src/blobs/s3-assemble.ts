import { CopyObjectCommand, UploadPartCommand, UploadPartCopyCommand } from "@aws-sdk/client-s3";
import type { CompletedPart } from "@aws-sdk/client-s3";
import type { S3Bucket } from "./s3-bucket.ts";
import { planParts } from "./s3-parts.ts";
import type { Part, Piece, Segment } from "./s3-parts.ts";

const MIB = 1024 * 1024;
// S3's own limits are 5 GiB for each copy and 10,000 parts. Smaller copies run concurrently, and none takes as long as
// the time limit of a request.
const COPY_BYTES = 256 * MIB;
const MIN_PART_BYTES = 5 * MIB;
const MAX_PARTS = 9_000;
const CONCURRENCY = 4;

export interface AssembleOptions {
  /** Larger segments are copied in parts. More than 10 MiB. */
  copyBytes?: number;
  /** Called before a multipart upload to the key begins, so that it can be found after a crash. */
  announce(): Promise<void>;
}

/**
 * Combines the segments into one object, which is created whole or not at all. The S3 server copies; only small
 * segments pass through this process.
 */
export async function assemble(
  bucket: S3Bucket,
  segments: Segment[],
  key: string,
  { copyBytes = COPY_BYTES, announce }: AssembleOptions,
): Promise<void> {
  const [first] = segments;
  if (first === undefined) {
    await bucket.put(key, Buffer.alloc(0));
    return;
  }
  if (segments.length === 1 && first.size <= copyBytes) {
    const source = { CopySource: `${bucket.name}/${first.key}`, CopySourceIfMatch: first.etag };
    await bucket.client.send(new CopyObjectCommand({ Bucket: bucket.name, Key: key, ...source }));
    return;
  }
  const size = segments.reduce((sum, segment) => sum + segment.size, 0);
  const plan = planParts(segments, {
    minBytes: MIN_PART_BYTES,
    copyBytes: Math.max(copyBytes, Math.ceil(size / MAX_PARTS)),
  });
  await announce();
  const multipart = await bucket.startMultipart(key);
  try {
    const parts: CompletedPart[] = [];
    for (let at = 0; at < plan.length; at += CONCURRENCY) {
      const sending = plan
        .slice(at, at + CONCURRENCY)
        .map((part, index) => sendPart(bucket, key, multipart.uploadId, at + index + 1, part));
      // All requests must have ended before the multipart upload is aborted.
      await Promise.allSettled(sending);
      parts.push(...(await Promise.all(sending)));
    }
    await bucket.completeMultipart(key, multipart, parts);
  } catch (error) {
    await bucket.abortMultipart(key, multipart.uploadId).catch(() => undefined);
    throw error;
  }
}

async function sendPart(
  bucket: S3Bucket,
  key: string,
  uploadId: string,
  number: number,
  part: Part,
): Promise<CompletedPart> {
  const target = { Bucket: bucket.name, Key: key, UploadId: uploadId, PartNumber: number };
  if ("read" in part) {
    const { ETag } = await bucket.client.send(
      new UploadPartCommand({ ...target, Body: await readPieces(bucket, part.read) }),
    );
    return { PartNumber: number, ETag };
  }
  const { key: source, etag, start, end } = part.copy;
  const copied = await bucket.client.send(
    new UploadPartCopyCommand({
      ...target,
      CopySource: `${bucket.name}/${source}`,
      CopySourceIfMatch: etag,
      CopySourceRange: `bytes=${start}-${end}`,
    }),
  );
  return { PartNumber: number, ETag: copied.CopyPartResult?.ETag };
}

async function readPieces(bucket: S3Bucket, pieces: Piece[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (const piece of pieces) for await (const chunk of await bucket.get(piece)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
