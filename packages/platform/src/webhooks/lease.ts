import type { ClaimAnswer } from "../events/index.ts";
import type { DeliveryQueue } from "./queue.ts";

/**
 * The right to send for one subscription, which one process holds at a time. Times are milliseconds of the monotonic
 * clock.
 */
export interface Lease {
  /** How long the lease lasts after a claim. */
  readonly lengthMs: number;
  /** Takes or extends the lease, and claims at most `limit` deliveries; 0 claims only the lease. */
  claim(limit: number): Promise<ClaimAnswer>;
  /**
   * Whether an attempt that begins now ends while the lease lasts. An attempt that outlived it could be made by two
   * processes concurrently.
   */
  coversAttempt(nowMs: number): boolean;
  /** In how many milliseconds to claim again, so that sending is not interrupted; negative when that is overdue. */
  renewInMs(nowMs: number): number;
  isOver(nowMs: number): boolean;
}

// Clocks of processes may differ by this much: the lease is requested for longer than it is used.
const CLOCK_MARGIN_MS = 2_000;

/** A lease that is not taken yet. `attemptMs`: the longest time of an attempt. */
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
    // Leaves half the time of an attempt for the database to answer.
    renewInMs: (nowMs) => endMs - 1.5 * attemptMs - nowMs,
    isOver: (nowMs) => nowMs > endMs,
  };
}
