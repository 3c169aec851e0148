import { UploadPartCommand } from "@aws-sdk/client-s3";
import type { CompletedPart } from "@aws-sdk/client-s3";
import type { HashState } from "./hash-state.ts";
import type { ByteSource } from "./blob-store.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import type { Segment } from "./s3-parts.ts";
import { BlockSums } from "./s3-sums.ts";
import { free, receive } from "./transfer.ts";
import type { Written } from "./transfer.ts";

// S3 allows 10,000 parts for each object. A longer stream continues in the next segment.
const MAX_PARTS = 9_000;

/**
 * Bytes that were received and partly sent; they belong to the upload only after `keep`. `segments` are in the order of
 * their offsets.
 */
export interface Received extends Written {
  keep(): Promise<Segment[]>;
  /** Removes what was written. When the server cannot be reached, an abandoned multipart upload remains. */
  drop(): Promise<void>;
}

export interface WriteOptions {
  /** Position of the first byte in the upload. */
  offset: number;
  keyOf(offset: number): string;
  /** Updated with the bytes as they pass. */
  hash?: HashState;
  /** Stops after this many bytes and reports `overflow`. */
  limit: number;
  /** Whether the memory of a chunk may be freed once it is copied. */
  freeChunks: boolean;
  partBytes: number;
  maxParts?: number;
}

/**
 * Streams the source into new segments of an upload. A stream that fits into one part is sent by `keep`; a longer one
 * is sent in parts as it arrives: two parts are sent concurrently while a third is filled, and that much is in memory.
 * Throws errors of the S3 server, after removing what was sent.
 */
export async function writeSegments(bucket: S3Bucket, source: ByteSource, options: WriteOptions): Promise<Received> {
  const { offset, keyOf, hash, limit, freeChunks, partBytes, maxParts = MAX_PARTS } = options;
  const finished: Segment[] = [];
  let gathered: Uint8Array[] = [];
  let gatheredBytes = 0;
  let segment = openSegment(bucket, keyOf(offset));
  let begin = offset;
  let sums = new BlockSums();

  const take = (): Buffer => {
    const part = Buffer.concat(gathered, gatheredBytes);
    if (freeChunks) gathered.forEach(free);
    [gathered, gatheredBytes] = [[], 0];
    return part;
  };
  const close = async (): Promise<void> => {
    const size = segment.bytes() + gatheredBytes;
    if (size === 0) return;
    const etag = await segment.finish(take());
    finished.push({ key: segment.key, offset: begin, size, etag, sums: sums.end() });
    begin += size;
    sums = new BlockSums();
    segment = openSegment(bucket, keyOf(begin));
  };
  const gather = async (chunk: Uint8Array): Promise<void> => {
    for (let at = 0; at < chunk.length;) {
      if (gatheredBytes === partBytes) {
        if (segment.parts() === maxParts - 1) await close();
        else await segment.add(take());
      }
      const piece = chunk.subarray(at, at + partBytes - gatheredBytes);
      sums.update(piece);
      gathered.push(piece);
      gatheredBytes += piece.length;
      at += piece.length;
    }
  };
  const drop = async (): Promise<void> => {
    await segment.drop();
    // The last segment first: so there is never a gap before the remaining ones.
    for (const { key } of finished.toReversed()) await bucket.remove(key);
  };

  const chunks = source[Symbol.asyncIterator]();
  let written: Written;
  try {
    written = await receive(chunks, { limit, hash }, gather);
  } catch (error) {
    await drop().catch(() => undefined);
    throw error;
  } finally {
    await chunks.return?.();
  }
  return {
    ...written,
    drop,
    async keep() {
      try {
        await close();
        return finished;
      } catch (error) {
        await drop().catch(() => undefined);
        throw error;
      }
    },
  };
}

/** Creates one object. It exists only once it is finished, and never replaces another one. */
function openSegment(bucket: S3Bucket, key: string) {
  let multipart: Awaited<ReturnType<S3Bucket["startMultipart"]>> | undefined;
  const parts: CompletedPart[] = [];
  let bytes = 0;
  const slots = [Promise.resolve(), Promise.resolve()];
  const send = async (uploadId: string, part: CompletedPart, body: Buffer): Promise<void> => {
    const input = { Bucket: bucket.name, Key: key, UploadId: uploadId, PartNumber: part.PartNumber, Body: body };
    part.ETag = (await bucket.sender.send(new UploadPartCommand(input))).ETag;
  };
  const add = async (body: Buffer): Promise<void> => {
    const { uploadId } = (multipart ??= await bucket.startMultipart(key));
    const slot = parts.length % slots.length;
    await slots[slot];
    const part: CompletedPart = { PartNumber: parts.length + 1 };
    parts.push(part);
    bytes += body.length;
    const sending = send(uploadId, part, body);
    // The error is handled where the slot is awaited next; without this line it would count as unhandled until then.
    sending.catch(() => undefined);
    slots[slot] = sending;
  };
  return {
    key,
    add,
    bytes: () => bytes,
    parts: () => parts.length,
    async finish(last: Buffer): Promise<string> {
      if (multipart === undefined) return bucket.put(key, last, { fresh: true });
      if (last.length > 0) await add(last);
      await Promise.all(slots);
      return bucket.completeMultipart(key, multipart, parts, { fresh: true });
    },
    async drop(): Promise<void> {
      await Promise.allSettled(slots);
      if (multipart !== undefined) await bucket.abortMultipart(key, multipart.uploadId);
    },
  };
}
