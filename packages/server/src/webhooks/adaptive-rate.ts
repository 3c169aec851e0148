/**
 * How quickly a process sends for one subscription: what it learned of the sink so far. Times are of the monotonic
 * clock, in milliseconds.
 */
export interface AdaptiveRate {
  /** Attempts that may be under way together. */
  concurrency(): number;
  /** Attempts in a row that failed, those counted once that were under way together. */
  failures(): number;
  /** How many deliveries to have at hand: what the sink takes in a second or so. */
  batch(): number;
  /** In how many milliseconds an attempt may begin; 0: now. */
  readyInMs(nowMs: number): number;
  /** An attempt begins. */
  began(nowMs: number): void;
  /** An attempt that began then ended. `restMs`: the sink asked to be left alone. */
  ended(attempt: { isDelivered: boolean; startMs: number; nowMs: number; restMs?: number | undefined }): void;
  /** Requests a minute that the sink allows; 0: any number. `isFirst`: nobody has sent anything yet. */
  allow(ratePerMinute: number, nowMs: number, isFirst: boolean): void;
}

const LEAST_BATCH = 4;
const MAX_BATCH = 256;
const FIRST_REST_MS = 50;
const LONGEST_REST_MS = 5_000;
// A sink that is mended meanwhile must not wait for ever; what it put off itself stays put off.
const LONGEST_ASKED_REST_MS = 60_000;
const LATENCY_WEIGHT = 0.2;

/**
 * One more attempt at a time with each that is delivered, `most` at most; one after a failure. While a sink fails it is
 * asked ever more slowly, so that a dead one neither costs much nor uses up the attempts of all that waits for it.
 * `firstRetryMs`: the first delay of the schedule, which no rest outlasts.
 */
export function createAdaptiveRate(most: number, firstRetryMs = LONGEST_REST_MS): AdaptiveRate {
  const longestRestMs = Math.min(LONGEST_REST_MS, firstRetryMs);
  let concurrency = 1;
  let failures = 0;
  let failedAtMs = -Infinity;
  let restUntilMs = 0;
  let latencyMs: number | undefined;
  let rate = 0;
  // When what was sent so far is used up at that rate: the "virtual scheduling" of ITU-T I.371.
  let paidUntilMs = 0;
  // Evenly spread, with what a tenth of a second brings at once; so much less is sent over time.
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
        // One that began before the last failure does not say that the sink is well again.
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
      // Nobody knows what the process before this one sent just now: it counts as all there was.
      paidUntilMs = rate === 0 || isFirst ? nowMs : nowMs + burst() * perAttemptMs();
    },
  };
}
