import { crc32 } from "node:zlib";

/** The bytes of a segment that one sum is over; the last block may be shorter. */
const BLOCK_BYTES = 1024 * 1024;

/**
 * Sums (CRC-32) of the blocks of a segment, taken as its bytes pass. What is read back of it later must have the same.
 */
export class BlockSums {
  readonly #done: number[] = [];
  #value = 0;
  #bytes = 0;

  update(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      const piece = chunk.subarray(at, at + BLOCK_BYTES - this.#bytes);
      this.#value = crc32(piece, this.#value);
      this.#bytes += piece.length;
      at += piece.length;
      if (this.#bytes === BLOCK_BYTES) this.#close();
    }
  }

  /** The sums of all blocks, the last one included. Nothing may be added afterwards. */
  end(): number[] {
    if (this.#bytes > 0) this.#close();
    return this.#done;
  }

  #close(): void {
    this.#done.push(this.#value);
    [this.#value, this.#bytes] = [0, 0];
  }
}

/** The whole blocks around the bytes from `start` to `end`, both inclusive, of a segment of that size. */
export function blocksAround(start: number, end: number, size: number): { start: number; end: number } {
  return {
    start: Math.floor(start / BLOCK_BYTES) * BLOCK_BYTES,
    end: Math.min(size, (Math.floor(end / BLOCK_BYTES) + 1) * BLOCK_BYTES) - 1,
  };
}

/** Whether the content, which begins at the start of a block, has the sums of the segment. */
export function hasSums(content: Uint8Array, start: number, sums: readonly number[]): boolean {
  for (let at = 0; at < content.length; at += BLOCK_BYTES)
    if (crc32(content.subarray(at, at + BLOCK_BYTES)) !== sums[(start + at) / BLOCK_BYTES]) return false;
  return true;
}
