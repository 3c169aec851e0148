import { parseJson } from "@moorage/kernel/lib/json";
import { retryAfterMs, UpstreamError } from "../mirroring/index.ts";

/** The destination has something else, which is not to be overwritten or deleted. The message is for people. */
export class BlockedError extends Error {}

/** The destination, a Moorage, moved or deleted the tag later than it moved here. The message is for people. */
export class OutdatedError extends Error {}

type Headers = Record<string, string | string[] | undefined>;

/** The error of an answer that is not what was expected; `doing`: what was refused, as `to take a blob`. */
export function rejection(status: number, headers: Headers, doing: string, nowMs: number): UpstreamError {
  const afterMs = retryAfterMs(headers["retry-after"], nowMs);
  if (status === 429)
    return new UpstreamError("limited", "the destination asks to come back later (429)", {
      retryAfterMs: afterMs,
      status,
    });
  if (status >= 500 || status === 408)
    return new UpstreamError("unreachable", `the destination answered ${status} when asked ${doing}`, {
      retryAfterMs: afterMs,
      status,
    });
  if (status === 401 || status === 403)
    return new UpstreamError("refused", `the destination does not let us ask it ${doing} (${status})`, { status });
  if (status >= 300 && status < 400)
    return new UpstreamError("refused", `the destination redirects when asked ${doing}, which is not followed`, {
      status,
    });
  return new UpstreamError("wrong", `the destination answered ${status} when asked ${doing}`, { status });
}

const MAX_SAID = 300;

/** What a registry says of a rejection, after a colon; empty when it says nothing that can be read. */
export function saidBy(body: Buffer): string {
  try {
    const { errors } = parseJson(body.toString(), 16) as { errors?: { message?: unknown }[] };
    const message = errors?.[0]?.message;
    if (typeof message !== "string") return "";
    return `: ${message.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, MAX_SAID)}`;
  } catch {
    return "";
  }
}

/** An error of a request to the destination, in words that say so. */
export function asDestinationError(error: unknown): unknown {
  if (!(error instanceof UpstreamError)) return error;
  const message = error.message.replaceAll("the source", "the destination");
  if (message === error.message) return error;
  const { retryAfterMs: afterMs, status, kind, cause } = error;
  return new UpstreamError(kind, message, { retryAfterMs: afterMs, cause, ...(status !== undefined && { status }) });
}
