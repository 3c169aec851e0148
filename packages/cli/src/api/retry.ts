// When a failed call is made again. Source: AIP-194, and packages/api/src/client/retry.ts.
import { setTimeout as sleep } from "node:timers/promises";
import { ApiFailure } from "./failure.ts";
import { Unreachable } from "../http/http.ts";

const RETRIES = 4;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;
const UNAVAILABLE = 14;
const RESOURCE_EXHAUSTED = 8;

/**
 * Makes a call, and again after a while as long as that may help: a read that did not come through, and any call that
 * the server put off (RetryInfo, Retry-After). A server that is not there is not waited for.
 */
export async function withRetries<T>(
  reads: boolean,
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const delayMs = attempt < RETRIES ? delayFor(error, reads, attempt) : undefined;
      if (delayMs === undefined) throw error;
      await sleep(delayMs, undefined, { signal }).catch(() => {
        throw signal?.reason ?? error;
      });
    }
  }
}

function delayFor(error: unknown, reads: boolean, attempt: number): number | undefined {
  const jitterMs = Math.random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
  // One that was sent and not answered in time took its time already.
  if (error instanceof Unreachable)
    return reads && error.sent && !(error.cause instanceof DOMException) ? jitterMs : undefined;
  if (!(error instanceof ApiFailure)) return undefined;
  const { code, httpStatus, retryDelayMs } = error;
  const isUnavailable = code === UNAVAILABLE || [502, 503, 504].includes(httpStatus);
  if (retryDelayMs !== undefined && (isUnavailable || code === RESOURCE_EXHAUSTED || httpStatus === 429))
    return retryDelayMs > MAX_DELAY_MS ? undefined : retryDelayMs;
  return isUnavailable && reads ? jitterMs : undefined;
}
