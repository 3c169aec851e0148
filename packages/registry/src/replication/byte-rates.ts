import { setTimeout as wait } from "node:timers/promises";

/** Spreads bytes over time. */
export interface ByteRate {
  /** Waits until so many bytes may be sent. `touch` is called meanwhile. */
  take(bytes: number, touch: () => void, signal: AbortSignal): Promise<void>;
}

/** A clock, in milliseconds from any moment on, and its waits. */
export interface Timer {
  nowMs(): number;
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

const LONGEST_WAIT_MS = 500;
const MAX_KNOWN = 1_000;
const OWN_TIMER: Timer = {
  nowMs: () => performance.now(),
  wait: (ms, signal) => wait(ms, undefined, { signal }),
};

/** Returns the byte rate of each rule, by its uid and the bytes per second that it may send; 0 for no limit. */
export function createByteRates(timer = OWN_TIMER): (uid: string, bytesPerSecond: number) => ByteRate {
  const freeMs = new Map<string, number>();
  return (uid, bytesPerSecond) => ({
    async take(bytes, touch, signal) {
      touch();
      if (bytesPerSecond === 0) return;
      if (freeMs.size > MAX_KNOWN) forgetPast(freeMs, timer.nowMs());
      const startMs = Math.max(timer.nowMs(), freeMs.get(uid) ?? 0);
      freeMs.set(uid, startMs + (bytes / bytesPerSecond) * 1000);
      for (let leftMs = startMs - timer.nowMs(); leftMs > 0; leftMs = startMs - timer.nowMs()) {
        await timer.wait(Math.min(leftMs, LONGEST_WAIT_MS), signal);
        touch();
      }
    },
  });
}

/** Those that send stay, so that many rules do not lift the limits of each other. */
function forgetPast(freeMs: Map<string, number>, nowMs: number): void {
  for (const [uid, untilMs] of freeMs) if (untilMs <= nowMs) freeMs.delete(uid);
}
