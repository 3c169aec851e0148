import { after, type Awaitable } from "../lib/awaitable.ts";
import { type ChangeKeys, createKeyCache, type Database, type Snapshot } from "../store/index.ts";
import type { Caller } from "./call.ts";

/**
 * Caches whole answers to requests that only read. An entry is valid until something is committed on which it may
 * depend: so its caller still exists and may read this, and the content is still the same. Whether the token is valid
 * is checked every time.
 */
export interface ResponseCache<A> {
  /** The cached answer to the same request, with its caller. Undefined when the request must be worked on. */
  get(key: string, nowMs: number): Awaitable<CachedResponse<A> | undefined>;
  /** The state of the database, to be taken before anything about the request is read. */
  snapshot(): Awaitable<Snapshot | undefined>;
  /**
   * Caches an answer of `bytes` bytes for which everything was read after the snapshot. `make` is called only when it
   * is cached; too large an answer is not. `keys`: as of KeyCache, for a cache by keys.
   */
  keep(
    snapshot: Snapshot | undefined,
    key: string,
    bytes: number,
    make: () => CachedResponse<A>,
    keys?: ChangeKeys,
  ): void;
}

/** An answer, its caller, and its time in milliseconds since 1970. */
export interface CachedResponse<A> {
  answer: A;
  caller: Caller;
  atMs: number;
}

export interface ResponseCacheOptions<A = unknown> {
  /** Whether the token of this caller is valid at this time as well. */
  isStillGood(caller: Caller, nowMs: number): boolean;
  /** How long an entry is valid when nothing changes, in milliseconds. */
  maxAgeMs: number;
  /** Until when this answer is valid when nothing changes, in milliseconds since 1970. Defaults to `maxAgeMs`. */
  untilMs?(answer: A): number;
  /**
   * Whether an entry outlives commits that declare to change nothing of its keys (KeyCache). By default it ends with
   * any commit that changes more than uncached tables.
   */
  isByKeys?: boolean;
  /** The memory that an entry takes beside its answer and its key, in bytes. */
  entryBytes: number;
}

const CACHE_BYTES = 32 * 1024 * 1024;
const MAX_ANSWER_BYTES = 64 * 1024;

/** Makes a response cache. `reader` sees what is committed and never writes. */
export function createResponseCache<A>(reader: Database, options: ResponseCacheOptions<A>): ResponseCache<A> {
  const { isStillGood, maxAgeMs, untilMs = () => Infinity, isByKeys = false, entryBytes } = options;
  type Entry = CachedResponse<A> & { bytes: number };
  const cached = createKeyCache<Entry>(reader, CACHE_BYTES, {
    weightOf: ({ bytes }) => bytes,
    endsWithAny: !isByKeys,
  });
  return {
    snapshot: cached.snapshot,
    get: (key, nowMs) =>
      after(cached.get(key), (known) => {
        if (known === undefined || Math.abs(nowMs - known.atMs) >= maxAgeMs || nowMs >= untilMs(known.answer)) return;
        return isStillGood(known.caller, nowMs) ? known : undefined;
      }),
    keep(snapshot, key, bytes, make, keys) {
      if (snapshot === undefined || bytes > MAX_ANSWER_BYTES) return;
      const { answer, caller, atMs } = make();
      cached.keep(snapshot, key, { answer, caller, atMs, bytes: bytes + key.length + entryBytes }, keys);
    },
  };
}
