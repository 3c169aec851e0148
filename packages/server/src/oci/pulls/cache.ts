import { matchesEtag } from "../../lib/etags.ts";
import type { Caller } from "../../core/call.ts";
import type { Request } from "../../core/http.ts";
import { createResponseCache, type ResponseCache, type ResponseCacheOptions } from "../../core/response-cache.ts";
import type { Database } from "../../store/index.ts";
import type { Exchange } from "../request.ts";
import type { Pull } from "./recorder.ts";
import { type Headers, send, sendEmpty } from "../send.ts";

/** A whole answer with status 200, and what it answers with. A text body has a character for each byte: see `send`. */
export interface PullAnswer {
  pull: Pull;
  headers: Headers & { etag: string };
  body: Uint8Array | string;
}

// What an entry takes beside its body and its key, which holds a token and may be longer than the body.
const ENTRY_BYTES = 1_000;

/**
 * The response cache of pulls: it still holds that the path leads to this repo, that the caller exists and may pull
 * this from there, and what the tag or digest is.
 */
export function createPullCache(
  reader: Database,
  isStillGood: ResponseCacheOptions["isStillGood"],
  gcGraceMs = Infinity,
): ResponseCache<PullAnswer> {
  // Who may push and is told what is there builds on it for a while: from time to time its grace must be looked at,
  // though nothing has changed.
  return createResponseCache(reader, { isStillGood, maxAgeMs: gcGraceMs / 4, entryBytes: ENTRY_BYTES });
}

/** What an answer to a request depends on, beside the database and the time. Undefined: on more than is kept. */
function keyOf({ headers, method, url }: Request): string | undefined {
  const kept =
    (method === "GET" || method === "HEAD") && headers.authorization !== undefined && headers.range === undefined;
  return kept ? `${url} ${headers.authorization}` : undefined;
}

/** Answers a pull as the same one was answered before, when nothing has changed since. False: nothing was done. */
export function answerAgain(exchange: Exchange): boolean {
  const { req, data, steps, callData } = exchange;
  const known = steps.cached(keyOf(req), callData.nowMs);
  if (known === undefined) return false;
  data.observed?.beginVerb(`${known.answer.pull.type}_${req.method === "GET" ? "get" : "head"}`);
  reply(exchange, known.answer, known.caller);
  return true;
}

/** Answers a pull of the exchange's caller; the same one may be answered again where `isKept`. */
export function answerPull(
  exchange: Exchange,
  { pull, headers, body, isKept }: PullAnswer & { body: Uint8Array; isKept: boolean },
): void {
  if (isKept)
    exchange.steps.keep(body.length, () => {
      // Node sends head and body of a text in one piece, of bytes in two.
      const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1");
      return { pull, headers, body: text };
    });
  reply(exchange, { pull, headers, body }, exchange.caller);
}

function reply(exchange: Exchange, { pull, headers, body }: PullAnswer, caller: Caller): void {
  notePull(exchange, pull, caller);
  if (!matchesEtag(exchange.req.headers["if-none-match"], headers.etag)) return send(exchange, 200, headers, body);
  const { "content-type": _, ...rest } = headers;
  sendEmpty(exchange, 304, rest);
}

/** Has it noted that this was answered: whole or in part, that the client has it already, or where it is. */
export function notePull({ req, callData, deps }: Exchange, pull: Pull, caller: Caller): void {
  deps.pullRecorder?.note(callData, caller, pull, req.method === "HEAD" ? "HEAD" : "GET");
}
