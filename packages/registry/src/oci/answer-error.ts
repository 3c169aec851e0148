import { unconflicted, Code, MoorageError } from "@moorage/kernel/errors";
import { errorAnswer } from "./errors.ts";
import { isLookBeforePush } from "./push-hint.ts";
import { type Exchange, challenge, scopeOf } from "./request.ts";
import { sendJson } from "./send.ts";

const MAX_DESCRIPTION = 1_000;

/**
 * Answers an error in both formats: the `errors` of OCI, and the code, message and details of AIP-193. Source:
 * docs/contract.md, "Errors".
 */
export function answerError(exchange: Exchange, thrown: unknown): void {
  const { req, res, data, deps, name } = exchange;
  const answer = errorAnswer(unconflicted(thrown, req.method), data.requestId);
  const { status, ociCode, error, headers, detail, reason } = answer;
  const shown = isLookBeforePush(exchange, error) ? 404 : status;
  // A client that closed the connection while sending its body gets no answer and causes no log line.
  const aborted = req.destroyed && !req.complete;
  const isUnexpected = error.code === Code.Internal || !(thrown instanceof MoorageError);
  if (isUnexpected && !aborted && !res.destroyed)
    deps.log.error({ requestId: data.requestId, err: thrown }, "registry request failed");
  if (res.headersSent || res.destroyed || aborted) {
    res.destroy();
    return;
  }
  for (const header of ["etag", "cache-control", "docker-content-digest", "accept-ranges"]) res.removeHeader(header);
  const { details, message, code } = {
    details: [],
    message: error.message,
    code: error.code,
    ...deps.statusJson(error, "registry", deps.config.errorDomain),
  };
  if (status === 401 && headers["www-authenticate"] === undefined)
    headers["www-authenticate"] = challenge(exchange, scopeOf(name, ["pull"]));
  if (status === 401) headers["www-authenticate"] = described(headers["www-authenticate"] ?? "", error.message);
  const body = { errors: [{ code: ociCode, message: error.message, detail: detail ?? null }], code, message, details };
  if (reason !== undefined && !("stream" in res)) res.statusMessage = reason;
  sendJson(exchange, shown, { ...headers, "content-type": "application/json" }, body);
  // The rest of the request body is discarded, so that the connection can be reused.
  if (!req.complete) req.resume();
}

/**
 * A challenge that names an error, with the message beside it: of such an answer docker shows that description, or
 * general words of its own, and not the body. Source: RFC 6750 §3, which has its characters.
 */
function described(authenticate: string, message: string): string {
  if (!authenticate.startsWith("Bearer ") || !authenticate.includes(',error="')) return authenticate;
  const words = message
    .replace(/^Unauthenticated: /, "")
    .slice(0, MAX_DESCRIPTION)
    .replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "'");
  return `${authenticate},error_description="${words}"`;
}
