import { type Readable, pipeline } from "node:stream";
import { constants, createGunzip, createZstdDecompress } from "node:zlib";
import { CatalogError } from "./types.ts";

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
// A frame that holds no content, which zstd:chunked layers may begin with: 0x184D2A50 to 0x184D2A5F.
const ZSTD_SKIPPED = Buffer.from([0x2a, 0x4d, 0x18]);
// The largest window that zstd takes by itself: 128 MiB of memory.
const ZSTD_WINDOW_LOG = 27;

/**
 * The tar archive of a layer: unpacked when its first bytes are those of gzip or zstd. Throws CatalogError when it is
 * damaged, and whatever the source throws.
 */
export async function* unpacked(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const { head, rest } = await peek(source);
  const decoder = head.subarray(0, 2).equals(GZIP)
    ? createGunzip()
    : head.subarray(0, 4).equals(ZSTD) || head.subarray(1, 4).equals(ZSTD_SKIPPED)
      ? createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } })
      : undefined;
  if (decoder === undefined) return yield* rest;
  let failed: Error | undefined;
  const noteFailure = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* rest;
    } catch (error) {
      failed = error as Error;
      throw error;
    }
  };
  pipeline(noteFailure(), decoder, () => {});
  try {
    const inner = await peek(decoder as Readable);
    // The reader of tar archives would unpack these by itself, without the limits.
    if (isPacked(inner.head)) throw new Error("it is packed twice");
    yield* inner.rest;
  } catch (error) {
    throw failed ?? new CatalogError(`a layer cannot be unpacked: ${(error as Error).message}`, { cause: error });
  } finally {
    decoder.destroy();
  }
}

function isPacked(head: Buffer): boolean {
  return head.subarray(0, 2).equals(GZIP) || head.subarray(0, 4).equals(ZSTD);
}

/** The first four bytes, and the whole source again. */
async function peek(source: AsyncIterable<Uint8Array>): Promise<{ head: Buffer; rest: AsyncGenerator<Buffer> }> {
  const iterator = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let isDone = false;
  while (head.length < 4 && !isDone) {
    const next = await iterator.next();
    isDone = next.done === true;
    if (!next.done) head = Buffer.concat([head, next.value]);
  }
  const rest = async function* (): AsyncGenerator<Buffer> {
    try {
      if (head.length > 0) yield head;
      while (!isDone) {
        const next = await iterator.next();
        if (next.done) return;
        yield Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
      }
    } finally {
      await iterator.return?.();
    }
  };
  return { head, rest: rest() };
}
