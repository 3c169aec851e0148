import { FetchError } from "@moorage/kernel/lib/guarded-fetch";
import { retryAfterMs as waitMs } from "@moorage/kernel/lib/retry-after";

/**
 * Why a request to a source failed. `limited`: the source asks to retry later; `unreachable`: it cannot be reached or
 * has an internal error, so a retry may succeed; `refused`: it denies access, or this server must not reach it;
 * `wrong`: its answer is invalid.
 */
export type UpstreamErrorKind = "limited" | "unreachable" | "refused" | "wrong";

/** A failed request to a source. The message is for the operator and contains no credentials. */
export class UpstreamError extends Error {
  readonly kind: UpstreamErrorKind;
  /** After how many milliseconds to retry. Undefined when the source does not say. */
  readonly retryAfterMs: number | undefined;
  /** The status that the source answered with. Undefined when something else is wrong. */
  readonly status: number | undefined;

  constructor(
    kind: UpstreamErrorKind,
    message: string,
    { retryAfterMs, status, cause }: { retryAfterMs?: number | undefined; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
    this.status = status;
  }
}

/** Turns an error of the guarded fetch into an UpstreamError. Returns any other error as it is. */
export function asUpstreamError(error: unknown): unknown {
  if (!(error instanceof FetchError)) return error;
  if (error.kind === "refused")
    return new UpstreamError("refused", `the server does not fetch that: ${error.message}`, { cause: error });
  return new UpstreamError("unreachable", "the source cannot be reached, or broke off", { cause: error });
}

// The bound for a longer Retry-After.
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** Milliseconds to wait by a Retry-After header, at most a day. Undefined when it is missing or invalid. */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | undefined {
  return waitMs(header, nowMs, MAX_RETRY_AFTER_MS);
}
