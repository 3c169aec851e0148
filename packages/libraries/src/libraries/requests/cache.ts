import { matchesEtag } from "@moorage/kernel/lib/etags";
import type { Request } from "@moorage/kernel/core/http";
import {
  type CachedResponse,
  createResponseCache,
  type ResponseCache,
  type ResponseCacheOptions,
} from "@moorage/kernel/core/response-cache";
import type { Database } from "@moorage/kernel/store";
import type { CachedAnswer, LibraryExchange } from "./exchange.ts";

// The size of an entry beside its body and its key; the key holds a token.
const ENTRY_BYTES = 1_500;
const MAX_AGE_MS = 60_000;
// What is shown may depend on the time as well, such as when an upstream is asked again.
const UNKNOWN_MS = 1_000;

/**
 * Makes the response cache of what clients of libraries get. An answer stays valid while nothing is committed on which
 * it may depend: for a minute at most, and for a second where nobody knows for how long.
 */
export function createLibraryCache(
  reader: Database,
  isStillGood: ResponseCacheOptions["isStillGood"],
): ResponseCache<CachedAnswer> {
  return createResponseCache<CachedAnswer>(reader, {
    isStillGood,
    maxAgeMs: MAX_AGE_MS,
    untilMs: (answer) => answer.untilMs,
    // Nothing of images changes it.
    isByKeys: true,
    entryBytes: ENTRY_BYTES,
  });
}

/** All that an answer depends on, beside the database and the time. Undefined when the request is not cached. */
function keyOf(req: Request, address: string): string | undefined {
  const { headers, method, url } = req;
  const { authorization, accept = "", range } = headers;
  if (method !== "GET" || authorization === undefined || range !== undefined) return undefined;
  const encodings = /\bgzip\b/.test(String(headers["accept-encoding"] ?? "")) ? "gzip" : "";
  return `${address}${url} ${encodings} ${accept} ${authorization}`;
}

/** The cached answer to the same request, and whose it is; undefined when it must be worked on. */
export async function cachedAnswer(exchange: LibraryExchange): Promise<CachedResponse<CachedAnswer> | undefined> {
  const { req, steps, deps, callData } = exchange;
  return await steps.cached(keyOf(req, deps.addresses.registry(req)), callData.nowMs);
}

/** Keeps an answer with an ETag for the same request, unless it was noted as one that is recorded each time. */
export function cacheAnswer(
  { req, steps, verb, isRecorded = false, callData, deps, goodUntilMs, download }: LibraryExchange,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): void {
  const { etag } = headers;
  if (req.method !== "GET" || etag === undefined || isRecorded) return;
  const text = (): string => Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1");
  const { nowMs } = callData;
  const isSaid = goodUntilMs !== undefined && goodUntilMs > nowMs;
  const untilMs = isSaid ? goodUntilMs : nowMs + Math.min(UNKNOWN_MS, deps.config.upstreamTtlMs);
  steps.keep(body.length, () => ({ verb, headers: { ...headers, etag }, body: text(), untilMs, download }));
}

/** Whether the client has the answer already. */
export function isKnown({ req }: Pick<LibraryExchange, "req">, { headers }: CachedAnswer): boolean {
  return matchesEtag(req.headers["if-none-match"], headers.etag);
}
