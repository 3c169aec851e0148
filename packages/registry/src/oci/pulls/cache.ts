import { after, type Awaitable } from "@moorage/kernel/lib/awaitable";
import { matchesEtag } from "@moorage/kernel/lib/etags";
import type { Caller } from "@moorage/kernel/core/call";
import type { Request } from "@moorage/kernel/core/http";
import {
  createResponseCache,
  type ResponseCache,
  type ResponseCacheOptions,
} from "@moorage/kernel/core/response-cache";
import type { ChangeKeys, Database } from "@moorage/kernel/store";
import { type Exchange, tokenCovers } from "../request.ts";
import { isBasic } from "../credentials.ts";
import type { Pull } from "../records/batch.ts";
import { isJudgedAlike } from "../../trust/index.ts";
import { HIT } from "./cache-status.ts";
import { scanOf } from "./gate.ts";
import { send, sendEmpty } from "../send.ts";
import type { PullAnswer } from "../answers.ts";

// The size of an entry beside its body and its key; the key holds a token and may be longer than the body.
const ENTRY_BYTES = 1_000;
// Of more bytes, copying takes longer than a second write.
const MAX_TEXT_BYTES = 64 * 1024;

/**
 * Creates the response cache of pulls. A cached answer stays valid while the path leads to the same repo, the caller
 * exists and may pull, and the tag or digest has the same content.
 */
export function createPullCache(
  reader: Database,
  isStillGood: ResponseCacheOptions["isStillGood"],
  gcGraceMs = Infinity,
): ResponseCache<PullAnswer> {
  // A caller with the right to push builds on the content that it sees, so its grace must be checked and renewed from
  // time to time, even when nothing has changed.
  return createResponseCache(reader, { isStillGood, maxAgeMs: gcGraceMs / 4, isByKeys: true, entryBytes: ENTRY_BYTES });
}

/**
 * The cache key: all that an answer depends on, beside the database and the time. Undefined when the request is not
 * cached.
 */
function keyOf({ headers, method, url }: Request): string | undefined {
  const isCacheable =
    (method === "GET" || method === "HEAD") &&
    headers.authorization !== undefined &&
    // A password is checked at every request.
    !isBasic(headers.authorization) &&
    headers.range === undefined;
  return isCacheable ? `${url} ${headers.authorization}` : undefined;
}

/** Answers a pull from the response cache. False when there is no valid cached answer; then nothing was done. */
export function answerFromCache(exchange: Exchange): Awaitable<boolean> {
  const { req, data, steps, callData } = exchange;
  return after(steps.cached(keyOf(req), callData.nowMs), (known) => {
    if (known === undefined) return false;
    // By HEAD a client asks whether it need not push the blob: that is up to the stored content.
    if (req.method === "HEAD" && known.answer.pull.type === "blob") return false;
    return after(isStillSigned(exchange, known.answer), (isGood) => {
      if (!isGood) return false;
      data.observed?.beginVerb(`${known.answer.pull.type}_${req.method === "GET" ? "get" : "head"}`);
      answer(exchange, known.answer, known.caller);
      return true;
    });
  });
}

/** Whether policies of signatures would say of the image what they said when the answer was made. */
function isStillSigned({ deps, callData }: Exchange, { pull, judged }: PullAnswer): Awaitable<boolean> {
  if (judged === undefined) return true;
  const { repo, digest } = pull;
  return deps.transactor.read({ ...callData, nowMs: deps.clock.nowMs() }, (call) =>
    isJudgedAlike(call, { repo, digest }, judged),
  );
}

/**
 * Answers a pull of the exchange's caller, and caches the answer when `isCacheable`. `keys`: of the tag that it depends
 * on; content by its digest never changes.
 */
export function answerPull(
  exchange: Exchange,
  {
    pull,
    headers,
    body,
    isCacheable,
    keys,
    judged,
  }: PullAnswer & { body: Uint8Array; isCacheable: boolean; keys?: ChangeKeys },
): void {
  const pulled = { pull, headers, body: body.length <= MAX_TEXT_BYTES ? textOf(body) : body, judged };
  // Below a group that stands for another registry every answer says where it is from.
  const kept = exchange.res.hasHeader("cache-status") ? { ...headers, "cache-status": HIT } : headers;
  if (isCacheable)
    exchange.steps.keep(body.length + (judged?.state.length ?? 0), () => ({ ...pulled, headers: kept }), keys);
  answer(exchange, pulled, exchange.caller);
}

/**
 * A text with one character for each byte. Node sends headers and body in one write when the body is a text, and in two
 * when it is bytes.
 */
function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1");
}

function answer(exchange: Exchange, { pull, headers, body }: PullAnswer, caller: Caller): void {
  const isUnchanged = matchesEtag(exchange.req.headers["if-none-match"], headers.etag);
  recordPull(exchange, pull, caller, isUnchanged ? 0 : body.length);
  if (!isUnchanged) return send(exchange, 200, headers, body);
  const { "content-type": _, ...rest } = headers;
  sendEmpty(exchange, 304, rest);
}

/**
 * Records a pull: the content was answered whole or in part, or the client was answered with 304 or a redirect.
 * `bytes`: how many the client gets of the content.
 */
export function recordPull(exchange: Exchange, pull: Pull, caller: Caller, bytes: number): void {
  const { req, callData, deps } = exchange;
  const method = req.method === "HEAD" ? "HEAD" : "GET";
  deps.pullRecorder?.note(callData, caller, pull, method);
  if (deps.pullCounter === undefined || !isUse(exchange, caller)) return;
  deps.pullCounter.note(pull, { method, identity: caller.identity, bytes, nowMs: callData.nowMs });
}

/** Whether the pull says that the content is used: not what a scan reads, and what a push asks for beforehand. */
function isUse({ req, name }: Exchange, caller: Caller): boolean {
  if (scanOf(caller) !== undefined) return false;
  return req.method !== "HEAD" || caller.repositories === undefined || !tokenCovers(caller, name, ["push"]);
}
