import type { ClaimAnswer } from "../events/index.ts";
import type { DeliveryQueue } from "./queue.ts";

/**
 * The right to send for one subscription, which one process has at a time. Times are of the monotonic clock, in
 * milliseconds.
 */
export interface Lease {
  /** How long a claim holds. */
  readonly lengthMs: number;
  /** Takes the lease, or keeps it for longer, and claims so many deliveries at most; 0: only the lease. */
  claim(limit: number): Promise<ClaimAnswer>;
  /**
   * Whether an attempt that begins now ends while the lease lasts: one that outlived it could be made by two processes
   * at the same time.
   */
  coversAttempt(nowMs: number): boolean;
  /** In how many milliseconds to claim again, so that sending goes on; negative: that is overdue. */
  renewInMs(nowMs: number): number;
  isOver(nowMs: number): boolean;
}

// Clocks of processes may differ by so much: the lease is asked for longer than it is used.
const CLOCK_MARGIN_MS = 2_000;

/** A lease not taken yet. `attemptMs`: how long an attempt may take. */
export function createLease(subscription: string, queue: Pick<DeliveryQueue, "claim">, attemptMs: number): Lease {
  const lengthMs = 2 * attemptMs;
  let endMs = 0;
  return {
    lengthMs,
    async claim(limit) {
      const beforeMs = performance.now();
      const answer = await queue.claim({ subscription, holdMs: lengthMs + CLOCK_MARGIN_MS, limit });
      if (answer.held) endMs = beforeMs + lengthMs;
      return answer;
    },
    coversAttempt: (nowMs) => nowMs + attemptMs <= endMs,
    // Half of the time of an attempt is left for the database to answer.
    renewInMs: (nowMs) => endMs - 1.5 * attemptMs - nowMs,
    isOver: (nowMs) => nowMs > endMs,
  };
}
