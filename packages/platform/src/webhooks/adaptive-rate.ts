/**
 * How quickly a process sends for one subscription, learned from how the sink answered. Times are milliseconds of the
 * monotonic clock.
 */
export interface AdaptiveRate {
  /** The number of attempts that may run concurrently. */
  concurrency(): number;
  /** The number of consecutive failed attempts; attempts that ran concurrently count once. */
  failures(): number;
  /** How many deliveries to hold claimed: about as many as the sink takes in a second. */
  batch(): number;
  /** In how many milliseconds the next attempt may begin; 0 means now. */
  readyInMs(nowMs: number): number;
  /** Records that an attempt begins. */
  began(nowMs: number): void;
  /** Records that an attempt, begun at `startMs`, has ended. `restMs`: how long the sink asked not to be sent to. */
  ended(attempt: { isDelivered: boolean; startMs: number; nowMs: number; restMs?: number | undefined }): void;
  /**
   * Sets how many requests a minute the sink allows; 0 means no limit. `isFirst`: no process has sent to the sink
   * before.
   */
  allow(ratePerMinute: number, nowMs: number, isFirst: boolean): void;
}

const LEAST_BATCH = 4;
const MAX_BATCH = 256;
const FIRST_REST_MS = 50;
const LONGEST_REST_MS = 5_000;
// Bounds a rest that the sink asked for, since it may recover earlier. The retried delivery itself keeps its later
// time.
const LONGEST_ASKED_REST_MS = 60_000;
const LATENCY_WEIGHT = 0.2;

/**
 * Raises the concurrency by one with each delivery, up to `most`, and resets it to one after a failure. While a sink
 * fails, the rests between attempts grow, so that an unreachable sink costs little and does not use up the attempts of
 * every delivery that waits for it. `firstRetryMs`: the first delay of the retry schedule, the longest rest.
 */
export function createAdaptiveRate(most: number, firstRetryMs = LONGEST_REST_MS): AdaptiveRate {
  const longestRestMs = Math.min(LONGEST_REST_MS, firstRetryMs);
  let concurrency = 1;
  let failures = 0;
  let failedAtMs = -Infinity;
  let restUntilMs = 0;
  let latencyMs: number | undefined;
  let rate = 0;
  // The time by which the attempts so far are due at that rate: the "virtual scheduling" of ITU-T I.371.
  let paidUntilMs = 0;
  // Attempts are evenly spread, except that those of a tenth of a second may go together. The steady rate is lower by
  // as many, so that no minute exceeds the limit.
  const burst = (): number => Math.max(1, Math.floor(rate / 600));
  const perAttemptMs = (): number => 60_000 / (rate - burst() + 1);
  return {
    concurrency: () => concurrency,
    failures: () => failures,
    batch() {
      if (failures > 0) return 1;
      const inASecond = Math.ceil(concurrency * Math.max(1, 1000 / Math.max(1, latencyMs ?? 1000)));
      return Math.min(Math.max(LEAST_BATCH, inASecond), MAX_BATCH, rate === 0 ? MAX_BATCH : Math.ceil(rate / 60));
    },
    readyInMs: (nowMs) =>
      Math.max(0, restUntilMs - nowMs, rate === 0 ? 0 : paidUntilMs - (burst() - 1) * perAttemptMs() - nowMs),
    began(nowMs) {
      if (rate > 0) paidUntilMs = Math.max(paidUntilMs, nowMs) + perAttemptMs();
    },
    ended({ isDelivered, startMs, nowMs, restMs = 0 }) {
      const tookMs = nowMs - startMs;
      latencyMs = latencyMs === undefined ? tookMs : latencyMs + LATENCY_WEIGHT * (tookMs - latencyMs);
      if (isDelivered) {
        // An attempt that began before the last failure does not show that the sink has recovered.
        if (startMs < failedAtMs) return;
        failures = 0;
        concurrency = Math.min(most, concurrency + 1);
        return;
      }
      concurrency = 1;
      if (startMs >= failedAtMs) {
        failures += 1;
        failedAtMs = nowMs;
      }
      const ownMs = failures < 2 ? 0 : Math.min(longestRestMs, FIRST_REST_MS * 2 ** Math.min(failures - 2, 20));
      restUntilMs = Math.max(restUntilMs, nowMs + Math.max(ownMs, Math.min(restMs, LONGEST_ASKED_REST_MS)));
    },
    allow(ratePerMinute, nowMs, isFirst) {
      if (ratePerMinute === rate) return;
      rate = ratePerMinute;
      // What another process sent just before is unknown: assume that it used up the burst.
      paidUntilMs = rate === 0 || isFirst ? nowMs : nowMs + burst() * perAttemptMs();
    },
  };
}
