import { matchesEtag } from "../../lib/etags.ts";
import { Code, type MoorageError } from "../../errors.ts";
import type { Answered } from "../../runtime/response-cache.ts";
import type { Response } from "../../core/http.ts";
import { httpStatus, statusJson } from "../status.ts";

/** What every answer of the door needs to know of its request. */
export interface AnswerContext {
  requestId: string;
  /** HEAD: the headers of GET without its body. */
  headersOnly: boolean;
}

// What a refused caller waits when the error does not say.
const DEFAULT_RETRY_AFTER_S = 1;

/**
 * Status 200 with a message's JSON text; `text` empty: no body at all, as a delete answers. With an entity tag, which
 * `ifNoneMatch` may name: 304 and nothing else. Such an answer is for its caller alone, who may keep it and asks each
 * time whether it still holds: rights are looked at then. Source: contract §6, RFC 9110 §13.1.2 and §15.4.5.
 */
export function answerOk(
  response: Response,
  { text, etag }: Answered,
  context: AnswerContext,
  ifNoneMatch: string | undefined,
): void {
  if (etag !== undefined) {
    response.setHeader("etag", etag);
    response.setHeader("cache-control", "private, no-cache");
    response.setHeader("vary", "authorization");
    if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, etag)) return writeNotModified(response, context);
  }
  write(response, 200, text, context);
}

function writeNotModified(response: Response, { requestId }: AnswerContext): void {
  response.statusCode = 304;
  response.setHeader("x-request-id", requestId);
  response.end();
}

/**
 * The error as AIP-193 has it, at the top level of the body, with its HTTP status and the headers that belong to it.
 * `allow` makes it a 405, `status` whatever it says. Nothing is written where an answer has begun. Source: contract §6.
 */
export function answerError(
  response: Response,
  error: MoorageError,
  area: string,
  errorDomain: string,
  context: AnswerContext,
  allow?: string,
  status?: number,
): void {
  if (response.headersSent) return;
  if (error.code === Code.Unauthenticated) response.setHeader("www-authenticate", "Bearer");
  const { retryAfterMs } = error.details;
  if (error.code === Code.ResourceExhausted || (error.code === Code.Unavailable && retryAfterMs !== undefined)) {
    response.setHeader(
      "retry-after",
      String(retryAfterMs === undefined ? DEFAULT_RETRY_AFTER_S : Math.ceil(retryAfterMs / 1000)),
    );
  }
  if (allow !== undefined) response.setHeader("allow", allow);
  response.setHeader("cache-control", "no-store");
  write(
    response,
    status ?? (allow === undefined ? httpStatus(error.code) : 405),
    JSON.stringify(statusJson(error, area, errorDomain)),
    context,
  );
}

function write(response: Response, status: number, text: string, context: AnswerContext): void {
  response.statusCode = status;
  // The front door has set it already, and to set a header costs more than to ask for it.
  if (!response.hasHeader("x-request-id")) response.setHeader("x-request-id", context.requestId);
  if (text !== "") response.setHeader("content-type", "application/json");
  const bytes = Buffer.byteLength(text);
  response.setHeader("content-length", bytes);
  // Two calls, since the two APIs overload end() differently. Text of ASCII alone needs no encoding, which takes longer
  // than the rest of it.
  if (context.headersOnly || text === "") response.end();
  else response.end(text, bytes === text.length ? "latin1" : "utf8");
}
