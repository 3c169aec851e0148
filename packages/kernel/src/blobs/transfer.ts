import type { FileHandle } from "node:fs/promises";
import { invalidArgument, type MoorageError } from "../errors.ts";
import type { AppendOptions, ByteRange, ByteSink, ByteSource } from "./blob-store.ts";
import type { HashState } from "./hash-state.ts";

// Measured (bench/results): batches of 256 KiB are written 1.3 times as fast as each chunk of a socket by itself,
// and two reused buffers read twice as fast as a read stream.
const BATCH_BYTES = 256 * 1024;
const READ_BYTES = 512 * 1024;
// Chunks of a socket are at most 64 KiB.
const CHUNKS_UNDER_WAY = 8;

export interface WriteOptions {
  limit: number;
  freeChunks: boolean;
}

/** The result of writing. `sourceError` is set when the source failed; the bytes before it are written. */
export interface Written {
  bytes: number;
  overflow: boolean;
  sourceError?: { thrown: unknown };
}

/**
 * Writes the source into the file from the offset, and hashes it. While one batch is written the next is received: at
 * most two batches are in memory. Stops after `limit` bytes and then reports `overflow`. Throws errors of the disk.
 * Does not sync.
 */
export async function writeFrom(
  file: FileHandle,
  offset: number,
  source: ByteSource,
  hash: HashState,
  { limit, freeChunks }: WriteOptions,
): Promise<Written> {
  let batch: Uint8Array[] = [];
  let batchBytes = 0;
  let position = offset;
  let writing: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await writing;
    if (batchBytes === 0) return;
    const chunks = batch;
    writing = writeAll(file, chunks, batchBytes, position).then(() => {
      if (freeChunks) for (const chunk of chunks) free(chunk);
    });
    // The error is handled where `writing` is awaited next; without this line it would count as unhandled until then.
    writing.catch(() => undefined);
    position += batchBytes;
    batch = [];
    batchBytes = 0;
  };
  const written = await receive(source[Symbol.asyncIterator](), { limit, hash }, async (chunk) => {
    batch.push(chunk);
    batchBytes += chunk.length;
    if (batchBytes >= BATCH_BYTES) await flush();
  });
  await flush();
  await writing;
  return written;
}

/**
 * Reads the source, updates the hash and passes each chunk to `take`, until the source ends, more than `limit` bytes
 * have come, or the source fails. Throws errors of `take`.
 */
export async function receive(
  chunks: AsyncIterator<Uint8Array>,
  { limit, hash }: { limit: number; hash?: HashState | undefined },
  take: (chunk: Uint8Array) => Promise<void>,
): Promise<Written> {
  const written: Written = { bytes: 0, overflow: false };
  for (;;) {
    let next: IteratorResult<Uint8Array>;
    try {
      next = await chunks.next();
    } catch (thrown) {
      written.sourceError = { thrown };
      return written;
    }
    if (next.done) return written;
    const chunk: Uint8Array = next.value;
    if (written.bytes + chunk.length > limit) {
      written.overflow = true;
      return written;
    }
    hash?.hash.update(chunk);
    if (hash) hash.bytes += chunk.length;
    written.bytes += chunk.length;
    await take(chunk);
  }
}

/** The error for a source that gives more or fewer bytes than were announced. */
export function wrongLength(): MoorageError {
  return invalidArgument({ field: "length", description: "is not the number of bytes that came" });
}

/** Why the bytes of an append are not kept: there are too many or too few, or a part of them is not wanted. */
export function rejectionOf(
  { bytes, overflow, sourceError }: Written,
  { length, keepPartial }: AppendOptions,
): { thrown: unknown } | undefined {
  if (overflow || (!sourceError && length !== undefined && bytes < length)) return { thrown: wrongLength() };
  return keepPartial === false ? sourceError : undefined;
}

/**
 * Frees the memory of a chunk immediately. If 64 KiB for every read of a socket are left to the garbage collector, it
 * collects the whole heap every few dozen megabytes: half of the processor time of an upload. Memory that the chunk
 * shares with others is not freed.
 */
export function free(chunk: Uint8Array): void {
  if (chunk.buffer instanceof ArrayBuffer && chunk.byteLength === chunk.buffer.byteLength) chunk.buffer.transfer(0);
}

async function writeAll(file: FileHandle, buffers: Uint8Array[], bytes: number, position: number): Promise<void> {
  const { bytesWritten } = await file.writev(buffers, position);
  // A nearly full disk writes only a part; writing the rest fails with the reason.
  let rest = bytesWritten < bytes ? Buffer.concat(buffers).subarray(bytesWritten) : Buffer.alloc(0);
  let at = position + bytesWritten;
  while (rest.length > 0) {
    const result = await file.write(rest, 0, rest.length, at);
    if (result.bytesWritten === 0) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
    rest = rest.subarray(result.bytesWritten);
    at += result.bytesWritten;
  }
}

/**
 * Sends chunks whose memory is not reused: several are sent concurrently, so that source and sink do not wait for each
 * other at every chunk. Stops at the first chunk that the sink rejects.
 */
export async function sendChunks(chunks: AsyncIterable<Buffer>, sink: ByteSink): Promise<void> {
  const sending: Promise<void>[] = [];
  let refused = false;
  for await (const chunk of chunks) {
    if (refused) break;
    if (sending.length === CHUNKS_UNDER_WAY) await sending.shift();
    const sent = sink(chunk);
    sent.catch(() => {
      refused = true;
    });
    sending.push(sent);
  }
  await Promise.all(sending);
}

/** Sends the range through two buffers in turn: one is filled while the other is sent. */
export async function readTo(file: FileHandle, range: ByteRange, sink: ByteSink): Promise<void> {
  const length = range.end - range.start + 1;
  const slots = [0, 1].map(() => ({
    buffer: Buffer.allocUnsafe(Math.min(READ_BYTES, length)),
    sent: Promise.resolve(),
  }));
  let position = range.start;
  try {
    for (let round = 0; position <= range.end; round += 1) {
      const slot = slots[round % 2];
      if (!slot) break;
      await slot.sent;
      const { bytesRead } = await file.read(
        slot.buffer,
        0,
        Math.min(slot.buffer.length, range.end - position + 1),
        position,
      );
      if (bytesRead === 0) throw new Error("blob file is shorter than its size");
      slot.sent = sink(slot.buffer.subarray(0, bytesRead));
      slot.sent.catch(() => undefined);
      position += bytesRead;
    }
  } finally {
    await Promise.allSettled(slots.map((slot) => slot.sent));
  }
  await Promise.all(slots.map((slot) => slot.sent));
}
