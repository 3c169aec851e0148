import { getOption, type DescMethod } from "@bufbuild/protobuf";
import { Transaction, transaction } from "@moorage/api";
import type { Caller } from "../core/call.ts";
import { createSnapshotCache, type Database, type Snapshot } from "../store/index.ts";

/**
 * Whole answers of reading methods, each kept while nothing is committed to the database but what the delivery of
 * events does all the time, which they do not depend on: so the caller still exists and may read this, and this is
 * still so. Whether the token is good is asked every time. On PostgreSQL nothing is kept.
 */
export interface KeptAnswers {
  /** What the same call was answered last, and to whom. Undefined: it must be worked on. */
  get(key: string, nowMs: number): KeptAnswer | undefined;
  /** The state of the database, to be asked for before anything about the call is found out. */
  snapshot(): Snapshot | undefined;
  /** Keeps an answer, everything about which was found out since the snapshot. */
  keep(snapshot: Snapshot | undefined, key: string, caller: Caller, answer: Answered, nowMs: number): void;
}

/** An answer, ready to be sent; `etag`: its entity tag, where the door tells one. */
export interface Answered {
  text: string;
  etag?: string | undefined;
}
export interface KeptAnswer extends Answered {
  caller: Caller;
}

interface Kept extends KeptAnswer {
  atMs: number;
  bytes: number;
}

const CACHE_BYTES = 32 * 1024 * 1024;
const EVENTS = "moorage.events.v2";
const MAX_KEPT_BYTES = 64 * 1024;
// What an entry takes beside its answer and its key.
const ENTRY_BYTES = 500;
// A page says when it was made, by its token: one minute of that token's life is not missed.
const LONGEST_MS = 60_000;

/**
 * `reader` sees what is committed and never writes. `isStillGood`: whether the token that gave this caller is good at
 * this time as well.
 */
export function createKeptAnswers(
  reader: Database,
  isStillGood: (caller: Caller, nowMs: number) => boolean,
): KeptAnswers {
  const kept = createSnapshotCache<Kept>(reader, CACHE_BYTES, ({ bytes }) => bytes);
  return {
    snapshot: kept.snapshot,
    get(key, nowMs) {
      const known = kept.get(key);
      return known !== undefined && Math.abs(nowMs - known.atMs) < LONGEST_MS && isStillGood(known.caller, nowMs)
        ? known
        : undefined;
    },
    keep(snapshot, key, caller, { text, etag }, atMs) {
      if (snapshot === undefined || text.length > MAX_KEPT_BYTES) return;
      kept.keep(snapshot, key, { caller, text, etag, atMs, bytes: text.length + key.length + ENTRY_BYTES });
    },
  };
}

/**
 * Whether a method only reads, and nothing of what changes quietly (store/uncached-tables.ts), so that the same call is answered
 * alike until something is written. Methods of the events' services read just that.
 */
export function mayKeep(method: DescMethod): boolean {
  return getOption(method, transaction) === Transaction.READ && method.parent.file.proto.package !== EVENTS;
}
