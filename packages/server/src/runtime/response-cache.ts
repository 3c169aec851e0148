import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { Transaction, transaction } from "@moorage/api";
import { createResponseCache, type ResponseCache, type ResponseCacheOptions } from "../core/response-cache.ts";
import type { Database } from "../store/index.ts";

/** An answer of a method, ready to be sent; `etag`: its entity tag, where the protocol has one. */
export interface Answered {
  text: string;
  etag?: string | undefined;
}

const EVENTS = "moorage.events.v2";
const ENTRY_BYTES = 500;
// A page says when it was made, by its token: one minute of that token's life is not missed.
const MAX_AGE_MS = 60_000;

/** The response cache of the API's methods. */
export function createMethodCache(
  reader: Database,
  isStillGood: ResponseCacheOptions["isStillGood"],
): ResponseCache<Answered> {
  return createResponseCache(reader, { isStillGood, maxAgeMs: MAX_AGE_MS, entryBytes: ENTRY_BYTES });
}

/**
 * Whether a method only reads, and nothing of what changes quietly (store/uncached-tables.ts), so that the same call is answered
 * alike until something is written. Methods of the events' services read just that.
 */
export function mayKeep(method: DescMethod): boolean {
  return getOption(method, transaction) === Transaction.READ && method.parent.file.proto.package !== EVENTS;
}
