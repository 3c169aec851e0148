import { performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";

/** From this share of its time on, the event loop counts as busy. */
const BUSY = 0.5;
const PAUSE_FACTOR = 4;
const MAX_PAUSE_MS = 1_000;

/**
 * For work between requests: the function that it returns is called after each piece, and waits when the process was
 * busy meanwhile, four times as long as the piece took, at most a second. So the work takes a fifth of
 * the time under load, and all of it otherwise. Resolves early when the signal is aborted.
 */
export function yieldToRequests(signal: AbortSignal): () => Promise<void> {
  let last = performance.eventLoopUtilization();
  return async () => {
    const { utilization, active, idle } = performance.eventLoopUtilization(last);
    if (utilization > BUSY)
      await setTimeout(Math.min((active + idle) * PAUSE_FACTOR, MAX_PAUSE_MS), undefined, { signal, ref: false }).catch(
        () => {},
      );
    last = performance.eventLoopUtilization();
  };
}
