import { matchesEtag } from "../../lib/etags.ts";
import type { Request } from "../../core/http.ts";
import { createResponseCache, type ResponseCache, type ResponseCacheOptions } from "../../core/response-cache.ts";
import type { Database } from "../../store/index.ts";
import type { LibraryExchange } from "./exchange.ts";

/** A whole answer with status 200 to a GET. The body has one character for each byte. */
export interface CachedAnswer {
  /** What it counts as in metrics. */
  verb: string;
  headers: Readonly<Record<string, string>> & { etag: string };
  body: string;
}

// The size of an entry beside its body and its key; the key holds a token.
const ENTRY_BYTES = 1_500;
// What is shown depends on the time as well: on cooldowns that end, and on upstreams that are asked again.
const MAX_AGE_MS = 1_000;

/**
 * Makes the response cache of what clients of libraries get. An answer stays valid while nothing is committed on which
 * it may depend, for a second at most.
 */
export function createLibraryCache(
  reader: Database,
  isStillGood: ResponseCacheOptions["isStillGood"],
  { upstreamTtlMs }: { upstreamTtlMs: number },
): ResponseCache<CachedAnswer> {
  return createResponseCache(reader, {
    isStillGood,
    maxAgeMs: Math.min(MAX_AGE_MS, upstreamTtlMs),
    entryBytes: ENTRY_BYTES,
  });
}

/** All that an answer depends on, beside the database and the time. Undefined when the request is not cached. */
function keyOf({ headers, method, url }: Request): string | undefined {
  const { authorization, accept = "", range } = headers;
  if (method !== "GET" || authorization === undefined || range !== undefined) return undefined;
  const encodings = /\bgzip\b/.test(String(headers["accept-encoding"] ?? "")) ? "gzip" : "";
  return `${url} ${encodings} ${accept} ${authorization}`;
}

/** The cached answer to the same request; undefined when it must be worked on. */
export function cachedAnswer({ req, steps, callData }: LibraryExchange): CachedAnswer | undefined {
  return steps.cached(keyOf(req), callData.nowMs)?.answer;
}

/** Keeps an answer with an ETag for the same request, unless it was noted as one that is recorded each time. */
export function cacheAnswer(
  { req, steps, verb, isRecorded = false }: LibraryExchange,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): void {
  const { etag } = headers;
  if (req.method !== "GET" || etag === undefined || isRecorded) return;
  const text = (): string => Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1");
  steps.keep(body.length, () => ({ verb, headers: { ...headers, etag }, body: text() }));
}

/** Whether the client has the answer already. */
export function isKnown({ req }: Pick<LibraryExchange, "req">, { headers }: CachedAnswer): boolean {
  return matchesEtag(req.headers["if-none-match"], headers.etag);
}
