/** What became of one attempt, as far as the sink answered. */
export interface Reply {
  /** 0: no answer. */
  status: number;
  /** Why there was no answer, or none that counts. Empty: there was one. */
  error: string;
  /** The answer's Retry-After. */
  retryAfter?: string | undefined;
  /** This server broke it off: the sink is not to blame. */
  isInterrupted?: boolean;
}

/** What follows from it. */
export interface Verdict {
  /** Empty: delivered. */
  error: string;
  /** When it is tried next, in milliseconds since 1970. Undefined: it is over, delivered or dead. */
  nextMs?: number;
  /** How long the sink wants to be left alone, in milliseconds. */
  restMs?: number;
  /** Set: the sink wants no more, and why. */
  disable?: string;
}

const DAY_MS = 86_400_000;
/** A delay may be this share longer or shorter, so that what failed together does not come back together. */
const JITTER = 0.2;

/**
 * Judges an attempt. `step`: attempts of the running schedule before it. `retryMs`: the delays after the first failed
 * attempt, the second, and so on; after the last one a delivery is dead. `random`: 0 to 1.
 */
export function judge(
  reply: Reply,
  { step, nowMs, retryMs, random }: { step: number; nowMs: number; retryMs: readonly number[]; random: number },
): Verdict {
  const { status } = reply;
  if (status >= 200 && status < 300) return { error: "" };
  const error = reply.error || errorOf(status);
  if (reply.isInterrupted) return { error, nextMs: nowMs };
  // Whoever resumes the subscription has it sent at once.
  if (status === 410) return { error, nextMs: nowMs, disable: error };
  const delayMs = retryMs[step];
  const restMs = reply.retryAfter === undefined ? undefined : retryAfterMs(reply.retryAfter, nowMs);
  const rest = restMs === undefined ? {} : { restMs };
  if (delayMs === undefined) return { error, ...rest };
  const jittered = delayMs * (1 - JITTER + 2 * JITTER * random);
  return { error, nextMs: Math.round(nowMs + Math.max(jittered, restMs ?? 0)), ...rest };
}

function errorOf(status: number): string {
  if (status === 410) return "the sink answered 410: it wants no more events";
  return status >= 300 && status < 400
    ? `the sink answered ${status}: redirects are not followed`
    : `the sink answered ${status}`;
}

/**
 * Milliseconds of a Retry-After, seconds or a date, at most a day; undefined when it is neither. Source: RFC 9110
 * §10.2.3.
 */
function retryAfterMs(text: string, nowMs: number): number | undefined {
  const waitMs = /^\d{1,10}$/.test(text)
    ? Number(text) * 1000
    : /^[A-Z][a-z]{2}, /.test(text)
      ? Date.parse(text) - nowMs
      : Number.NaN;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), DAY_MS);
}
