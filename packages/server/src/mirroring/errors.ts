import { FetchError } from "../lib/guarded-fetch.ts";

/**
 * Why a source did not give what it was asked for. `limited`: it asks to come back later; `unreachable`: it cannot be
 * reached, or is not well, which may pass; `refused`: it does not let us, or we may not reach it; `wrong`: what it
 * answers is not right.
 */
export type Trouble = "limited" | "unreachable" | "refused" | "wrong";

/** A source that gave trouble. The message is for the operator; it names no credentials. */
export class UpstreamError extends Error {
  readonly kind: Trouble;
  /** When to come back, as far as the source says so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: Trouble,
    message: string,
    { retryAfterMs, cause }: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** What the guarded fetch throws, as trouble with the source; anything else as it is. */
export function asTrouble(error: unknown): unknown {
  if (!(error instanceof FetchError)) return error;
  if (error.kind === "refused")
    return new UpstreamError("refused", `the server does not fetch that: ${error.message}`, { cause: error });
  return new UpstreamError("unreachable", "the source cannot be reached, or broke off", { cause: error });
}

// A source that asks for more is asked again after this.
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** A Retry-After header: seconds, or a date. Undefined: there is none that can be read. Source: RFC 9110 §10.2.3. */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? "";
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : text === "" ? Number.NaN : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}
