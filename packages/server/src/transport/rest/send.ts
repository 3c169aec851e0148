import { type Response, writeHead } from "@moorage/kernel/core/http";
import { matchesEtag } from "@moorage/kernel/lib/etags";
import type { Answered } from "../../runtime/response-cache.ts";
import { type AnswerContext, write } from "../http/answer-error.ts";

/**
 * Answers 200 with a message's JSON text; with an empty `text` there is no body, as for a delete. With an entity tag
 * that `ifNoneMatch` names, answers 304 without a body. Such an answer is private to its caller, which may cache it and
 * revalidates it at each use, so that its rights are checked each time. Source: docs/contract.md, "JSON"; RFC 9110
 * §13.1.2 and §15.4.5.
 */
export function answerOk(
  response: Response,
  { text, etag }: Answered,
  context: AnswerContext,
  ifNoneMatch: string | undefined,
): void {
  const { status, headers } = okHeaders(context, etag, ifNoneMatch);
  if (status === 200) return write(response, status, headers, text, context);
  writeHead(response, status, headers);
  response.end();
}

/** The status of an answer that went well, 200 or 304, and its headers without those of its content. */
export function okHeaders(
  { requestId }: AnswerContext,
  etag: string | undefined,
  ifNoneMatch: string | undefined,
): { status: 200 | 304; headers: string[] } {
  const headers = ["x-request-id", requestId];
  if (etag === undefined) return { status: 200, headers };
  headers.push("etag", etag, "cache-control", "private, no-cache", "vary", "authorization");
  return { status: ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, etag) ? 304 : 200, headers };
}
