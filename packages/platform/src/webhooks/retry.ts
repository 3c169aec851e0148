import { retryAfterMs } from "@moorage/kernel/lib/retry-after";

/** The sink's answer to one attempt, or why there was none. */
export interface Reply {
  /** The HTTP status; 0 without an answer. */
  status: number;
  /** Why there was no valid answer; empty when there was one. */
  error: string;
  /** The answer's Retry-After header. */
  retryAfter?: string | undefined;
  /** This server interrupted the attempt, so it does not count as a failure of the sink. */
  isInterrupted?: boolean;
}

/** What follows from a reply. */
export interface Verdict {
  /** Why the attempt failed; empty when the event was delivered. */
  error: string;
  /**
   * When the next attempt is due, in milliseconds of the agreed time. Undefined when the delivery is delivered or a
   * dead letter.
   */
  nextMs?: number;
  /** How long the sink asked not to be sent to, in milliseconds. */
  restMs?: number;
  /** Why the subscription is to be disabled; undefined when it is not. */
  disable?: string;
}

const DAY_MS = 86_400_000;
/** A delay may be this share longer or shorter, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;

/**
 * Judges an attempt. `step`: the attempts before it in the current schedule. `retryMs`: the delays after the first
 * failed attempt, the second, and so on; after the last one the delivery is a dead letter. `nowMs`: the time of day,
 * for dates in the reply; `agreedMs`: the agreed time. `random`: 0 to 1.
 */
export function judge(
  reply: Reply,
  {
    step,
    nowMs,
    agreedMs,
    retryMs,
    random,
  }: { step: number; nowMs: number; agreedMs: number; retryMs: readonly number[]; random: number },
): Verdict {
  const { status } = reply;
  if (status >= 200 && status < 300) return { error: "" };
  const error = reply.error || errorOf(status);
  if (reply.isInterrupted) return { error, nextMs: agreedMs };
  // The delivery stays due, so that it is sent as soon as the subscription is resumed.
  if (status === 410) return { error, nextMs: agreedMs, disable: error };
  const delayMs = retryMs[step];
  const restMs = reply.retryAfter === undefined ? undefined : retryAfterMs(reply.retryAfter, nowMs, DAY_MS);
  const rest = restMs === undefined ? {} : { restMs };
  if (delayMs === undefined) return { error, ...rest };
  const jittered = delayMs * (1 - JITTER + 2 * JITTER * random);
  return { error, nextMs: Math.round(agreedMs + Math.max(jittered, restMs ?? 0)), ...rest };
}

function errorOf(status: number): string {
  if (status === 410) return "the sink answered 410: it wants no more events";
  return status >= 300 && status < 400
    ? `the sink answered ${status}: redirects are not followed`
    : `the sink answered ${status}`;
}
