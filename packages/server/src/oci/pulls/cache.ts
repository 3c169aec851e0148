import { matchesEtag } from "../../lib/etags.ts";
import type { Caller } from "../../core/call.ts";
import { createSnapshotCache, type Database, type Snapshot, type SnapshotCache } from "../../store/index.ts";
import type { Request } from "../../core/http.ts";
import type { Exchange } from "../request.ts";
import type { Pull } from "./recorder.ts";
import { type Headers, send, sendEmpty } from "../send.ts";

/** A whole answer with status 200, and what it answers with. A text body has a character for each byte: see `send`. */
interface Answer {
  pull: Pull;
  headers: Headers & { etag: string };
  body: Uint8Array | string;
}
/** One that is kept, whom the token named that it is for, when it was found out, and the memory it takes. */
interface KeptAnswer extends Answer {
  caller: Caller;
  atMs: number;
  bytes: number;
}

/**
 * Answers to pulls, kept while nothing is committed to the database but what the delivery of events does all the time:
 * so it still holds that the path leads to this repo, that the caller exists and may pull this from there, and what the
 * tag or digest is. Whether the token is good is asked at every pull.
 */
export interface Pulls {
  answers: SnapshotCache<KeptAnswer>;
  /** Whether the token that gave this caller is good at this time as well. */
  isStillGood(caller: Caller, nowMs: number): boolean;
}

const CACHE_BYTES = 32 * 1024 * 1024;
const MAX_KEPT_BYTES = 64 * 1024;
// What an entry takes beside its body and its key, which holds a token and may be longer than the body.
const ENTRY_BYTES = 1_000;

/** `reader` sees what is committed and never writes. */
export function createPulls(reader: Database, isStillGood: Pulls["isStillGood"]): Pulls {
  return { isStillGood, answers: createSnapshotCache(reader, CACHE_BYTES, ({ bytes }) => bytes) };
}

/** What an answer to a request depends on, beside the database and the time. Undefined: on more than is kept. */
function keyOf({ headers, method, url }: Request): string | undefined {
  const kept =
    (method === "GET" || method === "HEAD") && headers.authorization !== undefined && headers.range === undefined;
  return kept ? `${url} ${headers.authorization}` : undefined;
}

/** Answers a pull as the same one was answered before, when nothing has changed since. False: nothing was done. */
export function answerAgain(exchange: Exchange): boolean {
  const {
    req,
    deps: { pulls, config },
    callData,
  } = exchange;
  // Who may push and is told what is there builds on it for a while: from time to time its grace must be looked at,
  // though nothing has changed.
  const keptMs = (config.gcGraceMs ?? Infinity) / 4;
  const key = keyOf(req);
  const known = key === undefined ? undefined : pulls.answers.get(key);
  if (known === undefined || !pulls.isStillGood(known.caller, callData.nowMs) || callData.nowMs - known.atMs > keptMs)
    return false;
  exchange.data.admit?.(known.caller.identity);
  exchange.data.observed?.beginVerb(`${known.pull.type}_${req.method === "GET" ? "get" : "head"}`);
  reply(exchange, known, known.caller);
  return true;
}

/** Answers a pull, and keeps the answer, everything about which must have been found out since the snapshot. */
export function answerPull(
  exchange: Exchange,
  snapshot: Snapshot | undefined,
  pull: Pull,
  headers: Answer["headers"],
  body: Uint8Array,
): void {
  const {
    req,
    caller,
    callData,
    deps: { pulls },
  } = exchange;
  const key = body.length > MAX_KEPT_BYTES ? undefined : keyOf(req);
  if (key !== undefined) {
    // Node sends head and body of a text in one piece, of bytes in two.
    const latin1 = Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1");
    pulls.answers.keep(snapshot, key, {
      pull,
      caller,
      atMs: callData.nowMs,
      headers,
      body: latin1,
      bytes: latin1.length + key.length + ENTRY_BYTES,
    });
  }
  reply(exchange, { pull, headers, body }, caller);
}

function reply(exchange: Exchange, { pull, headers, body }: Answer, caller: Caller): void {
  notePull(exchange, pull, caller);
  if (!matchesEtag(exchange.req.headers["if-none-match"], headers.etag)) return send(exchange, 200, headers, body);
  const { "content-type": _, ...rest } = headers;
  sendEmpty(exchange, 304, rest);
}

/** Has it noted that this was answered: whole or in part, that the client has it already, or where it is. */
export function notePull({ req, callData, deps }: Exchange, pull: Pull, caller: Caller): void {
  deps.pullRecorder?.note(callData, caller, pull, req.method === "HEAD" ? "HEAD" : "GET");
}
