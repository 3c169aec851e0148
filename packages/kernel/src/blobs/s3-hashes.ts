import { createHash } from "node:crypto";
import { createLru } from "../lib/lru.ts";
import { copyHash, emptyHash, MAX_IDLE_HASHES } from "./hash-state.ts";
import type { HashState } from "./hash-state.ts";
import type { DigestAlgorithm } from "./blob-store.ts";
import type { Segment } from "./s3-parts.ts";

/** The hash over the first segments of an upload, the fingerprint of those segments, and the sums of each. */
interface KnownHash {
  state: HashState;
  segments: string;
  sums: readonly (readonly number[])[];
}

/**
 * Hash states by upload, in memory, so that segments are not read again. One is only used for segments with the same
 * ETags. The least recently used are dropped.
 */
export class SegmentHashes {
  readonly #known = createLru<string, KnownHash>(MAX_IDLE_HASHES);

  /**
   * The known hash state for the longest possible beginning of the upload, the segments of it with their sums, and the
   * segments after it. Without a known state: an empty one, and all segments are after it.
   */
  resume(
    id: string,
    segments: Segment[],
    algorithm: DigestAlgorithm,
  ): { state: HashState; summed: Segment[]; rest: Segment[] } {
    const known = this.#known.get(id);
    const count =
      known?.state.algorithm === algorithm
        ? segments.findLastIndex(({ offset, size }) => offset + size === known.state.bytes) + 1
        : 0;
    if (known === undefined || count === 0 || fingerprint(segments.slice(0, count)) !== known.segments)
      return { state: emptyHash(algorithm), summed: [], rest: segments };
    const summed = segments.slice(0, count).map((segment, at) => ({ ...segment, sums: known.sums[at] }));
    return { state: copyHash(known.state), summed, rest: segments.slice(count) };
  }

  /** The algorithm of the known state; undefined when there is none. */
  algorithmOf(id: string): DigestAlgorithm | undefined {
    return this.#known.get(id)?.state.algorithm;
  }

  /** The segments must have their sums. */
  remember(id: string, state: HashState, segments: Segment[]): void {
    this.#known.set(id, { state, segments: fingerprint(segments), sums: segments.map(({ sums = [] }) => sums) });
  }

  forget(id: string): void {
    this.#known.delete(id);
  }
}

function fingerprint(segments: Segment[]): string {
  const hash = createHash("sha256");
  for (const { offset, size, etag } of segments) hash.update(`${offset} ${size} ${etag}\n`);
  return hash.digest("hex");
}
