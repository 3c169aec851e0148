import { setImmediate } from "node:timers/promises";

const TURN_MS = 10;

/**
 * Divides a long loop into turns of 10 ms, between which the process does other work. Call it after each step of the
 * loop, and wait for what it returns. Whether a turn is over is measured, since the steps of one loop may take a
 * microsecond or ten milliseconds.
 */
export function createTurns(): () => Promise<void> | undefined {
  let beganMs = performance.now();
  return () => {
    if (performance.now() - beganMs < TURN_MS) return undefined;
    return setImmediate().then(() => {
      beganMs = performance.now();
    });
  };
}
