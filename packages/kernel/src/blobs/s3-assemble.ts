import { CopyObjectCommand, UploadPartCommand, UploadPartCopyCommand } from "@aws-sdk/client-s3";
import type { CompletedPart } from "@aws-sdk/client-s3";
import type { MoorageError } from "../errors.ts";
import { storageFault } from "../lib/storage-fault.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import type { StartedMultipart } from "./s3-bucket-writes.ts";
import { planParts } from "./s3-parts.ts";
import type { Part, Piece, Segment } from "./s3-parts.ts";
import { blocksAround, hasSums } from "./s3-sums.ts";

const MIB = 1024 * 1024;
// S3's own limits are 5 GiB for each copy and 10,000 parts. Smaller copies run concurrently, and none takes as long as
// the time limit of a request.
const COPY_BYTES = 256 * MIB;
const MIN_PART_BYTES = 5 * MIB;
const MAX_PARTS = 9_000;
const CONCURRENCY = 4;
const READ_ATTEMPTS = 3;

export interface AssembleOptions {
  /** The bucket of the segments. Defaults to that of the object. */
  from?: string;
  /** Larger segments are copied in parts. More than 10 MiB. */
  copyBytes?: number;
  /** Called before a multipart upload to the key begins, so that it can be found after a crash. */
  announce(): Promise<void>;
}

/**
 * Combines the segments into one object, which is created whole or not at all. The S3 server copies; only small
 * segments pass through this process, which compares what it reads with their sums.
 */
export async function assemble(
  bucket: S3Bucket,
  segments: Segment[],
  key: string,
  { from = bucket.name, copyBytes = COPY_BYTES, announce }: AssembleOptions,
): Promise<void> {
  const [first] = segments;
  if (first === undefined) {
    await bucket.put(key, Buffer.alloc(0));
    return;
  }
  if (segments.length === 1 && first.size <= copyBytes) {
    const source = { CopySource: `${from}/${first.key}`, CopySourceIfMatch: first.etag };
    await bucket.client.send(new CopyObjectCommand({ Bucket: bucket.name, Key: key, ...source }), bucket.patience.copy);
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
        .map((part, index) => sendPart(bucket, segments, { from, key, multipart, number: at + index + 1 }, part));
      // All requests must have ended before the multipart upload is aborted.
      await Promise.allSettled(sending);
      parts.push(...(await Promise.all(sending)));
    }
    await bucket.completeMultipart(key, multipart, parts);
    const stored = await bucket.size(key);
    if (stored !== size) throw ioError(`of ${size} bytes that were put together the S3 server has ${stored}`);
  } catch (error) {
    await bucket.abortMultipart(key, multipart.uploadId).catch(() => undefined);
    throw error;
  }
}

async function sendPart(
  bucket: S3Bucket,
  segments: Segment[],
  { from, key, multipart, number }: { from: string; key: string; multipart: StartedMultipart; number: number },
  part: Part,
): Promise<CompletedPart> {
  const target = { Bucket: bucket.name, Key: key, UploadId: multipart.uploadId, PartNumber: number };
  if ("read" in part) {
    const pieces: Buffer[] = [];
    for (const piece of part.read) pieces.push(await readPiece(bucket, segments, piece));
    const { ETag } = await bucket.sender.send(new UploadPartCommand({ ...target, Body: Buffer.concat(pieces) }));
    return { PartNumber: number, ETag };
  }
  const { key: source, etag, start, end } = part.copy;
  const copied = await bucket.client.send(
    new UploadPartCopyCommand({
      ...target,
      CopySource: `${from}/${source}`,
      CopySourceIfMatch: etag,
      CopySourceRange: `bytes=${start}-${end}`,
    }),
    bucket.patience.copy,
  );
  return { PartNumber: number, ETag: copied.CopyPartResult?.ETag };
}

/** Reads a piece and the whole blocks around it, until these have the sums with which they were received. */
async function readPiece(bucket: S3Bucket, segments: Segment[], { key, etag, start, end }: Piece): Promise<Buffer> {
  const segment = segments.find((each) => each.key === key);
  if (segment?.sums === undefined) throw new Error("a segment without sums is read back");
  const blocks = blocksAround(start, end, segment.size);
  for (let attempt = 1; attempt <= READ_ATTEMPTS; attempt += 1) {
    const chunks: Buffer[] = [];
    for await (const chunk of bucket.get({ key, etag, ...blocks })) chunks.push(chunk);
    const content = Buffer.concat(chunks);
    if (hasSums(content, blocks.start, segment.sums))
      return content.subarray(start - blocks.start, end + 1 - blocks.start);
  }
  throw ioError("what was read back of an upload is not what was received");
}

function ioError(message: string): MoorageError {
  return storageFault({ part: "blobs", reason: "io_error" }, new Error(message));
}
