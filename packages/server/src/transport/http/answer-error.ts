import { type Response, writeHead } from "@moorage/kernel/core/http";
import { type MoorageError, Code } from "@moorage/kernel/errors";
import { httpStatus, statusJson } from "../status.ts";

/** The parts of a request that every answer needs. */
export interface AnswerContext {
  requestId: string;
  /** Set for HEAD: the headers of GET without its body. */
  headersOnly: boolean;
}
// The retry delay when the error has none.
const DEFAULT_RETRY_AFTER_S = 1;

export function write(
  response: Response,
  status: number,
  headers: string[],
  text: string,
  { headersOnly }: AnswerContext,
): void {
  const bytes = Buffer.byteLength(text);
  if (text !== "") headers.push("content-type", "application/json");
  headers.push("content-length", String(bytes));
  writeHead(response, status, headers);
  // Two calls, because the two APIs overload end() differently. A text of ASCII alone needs no UTF-8 encoding, which
  // would take longer than all the rest.
  if (headersOnly || text === "") response.end();
  else response.end(text, bytes === text.length ? "latin1" : "utf8");
}

/**
 * Answers an error in the form of AIP-193, at the top level of the body, with its HTTP status and headers. `allow`
 * makes the status 405, `status` replaces it. Writes nothing when an answer has begun. Source: docs/contract.md,
 * "Errors".
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
  const headers = ["x-request-id", context.requestId];
  // An endpoint may have set a challenge that says more.
  if (error.code === Code.Unauthenticated)
    headers.push("www-authenticate", String(response.getHeader("www-authenticate") ?? "Bearer"));
  const { retryAfterMs } = error.details;
  if (error.code === Code.ResourceExhausted || (error.code === Code.Unavailable && retryAfterMs !== undefined)) {
    const seconds = retryAfterMs === undefined ? DEFAULT_RETRY_AFTER_S : Math.ceil(retryAfterMs / 1000);
    headers.push("retry-after", String(seconds));
  }
  if (allow !== undefined) headers.push("allow", allow);
  headers.push("cache-control", "no-store");
  write(
    response,
    status ?? (allow === undefined ? httpStatus(error.code) : 405),
    headers,
    JSON.stringify(statusJson(error, area, errorDomain)),
    context,
  );
}
