import { Code } from "@connectrpc/connect";
import type { ApiError } from "./errors.ts";

/** How often, and how long at most, a failed call waits for its next attempt. */
export interface RetryOptions {
  /** Further attempts after the first. Default 4; 0 for none. */
  readonly retries?: number;
  /** The longest wait between two attempts, in milliseconds. Default 10,000. */
  readonly maxDelayMs?: number;
}

const FIRST_DELAY_MS = 100;

/**
 * How long to wait before calling again, in milliseconds; undefined if the error is final. The rate limit refuses a
 * call before it does anything, and so does a server that says when to come back (RetryInfo): both are tried again,
 * whatever the call does. A connection that broke may have lost the answer alone, so only reads are tried again then.
 * Source: AIP-194.
 */
export function retryDelayMs(
  error: ApiError,
  { attempt, reads, maxDelayMs }: { attempt: number; reads: boolean; maxDelayMs: number },
): number | undefined {
  const refused = error.retryDelayMs !== undefined;
  const again = error.code === Code.ResourceExhausted ? refused : error.code === Code.Unavailable && (reads || refused);
  if (!again) return undefined;
  // Full jitter: many clients that failed together do not come back together.
  const delayMs = error.retryDelayMs ?? Math.random() * Math.min(maxDelayMs, FIRST_DELAY_MS * 2 ** attempt);
  return delayMs > maxDelayMs ? undefined : delayMs;
}

/** Resolves after the time; rejects with the signal's reason as soon as that is aborted. */
export function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, delayMs);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
