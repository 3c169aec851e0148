import { createSnapshotCache, type Database, type Snapshot } from "../store/index.ts";
import type { Caller } from "./call.ts";

/**
 * Whole answers to requests that only read, each kept while nothing is committed to the database but what the delivery
 * of events does all the time, which they do not depend on: so the caller still exists and may read this, and this is
 * still so. Whether the token is good is asked every time. On PostgreSQL nothing is kept.
 */
export interface ResponseCache<A> {
  /** What the same request was answered last, and to whom. Undefined: it must be worked on. */
  get(key: string, nowMs: number): CachedResponse<A> | undefined;
  /** The state of the database, to be asked for before anything about the request is found out. */
  snapshot(): Snapshot | undefined;
  /**
   * Keeps an answer of so many bytes, everything about which was found out since the snapshot. `make` is called when
   * it is kept: one that is large is not.
   */
  keep(snapshot: Snapshot | undefined, key: string, bytes: number, make: () => CachedResponse<A>): void;
}

/** An answer, whom it was given to, and when, in milliseconds since 1970. */
export interface CachedResponse<A> {
  answer: A;
  caller: Caller;
  atMs: number;
}

export interface ResponseCacheOptions {
  /** Whether the token that gave this caller is good at this time as well. */
  isStillGood(caller: Caller, nowMs: number): boolean;
  /** How long an answer is kept though nothing changes. */
  maxAgeMs: number;
  /** What an entry takes beside its answer and its key. */
  entryBytes: number;
}

const CACHE_BYTES = 32 * 1024 * 1024;
const MAX_ANSWER_BYTES = 64 * 1024;

/** `reader` sees what is committed and never writes. */
export function createResponseCache<A>(reader: Database, options: ResponseCacheOptions): ResponseCache<A> {
  const { isStillGood, maxAgeMs, entryBytes } = options;
  const kept = createSnapshotCache<CachedResponse<A> & { bytes: number }>(reader, CACHE_BYTES, ({ bytes }) => bytes);
  return {
    snapshot: kept.snapshot,
    get(key, nowMs) {
      const known = kept.get(key);
      return known !== undefined && Math.abs(nowMs - known.atMs) < maxAgeMs && isStillGood(known.caller, nowMs)
        ? known
        : undefined;
    },
    keep(snapshot, key, bytes, make) {
      if (snapshot === undefined || bytes > MAX_ANSWER_BYTES) return;
      const { answer, caller, atMs } = make();
      kept.keep(snapshot, key, { answer, caller, atMs, bytes: bytes + key.length + entryBytes });
    },
  };
}
