import { setTimeout as wait } from "node:timers/promises";

/** Spreads bytes over time. */
export interface ByteRate {
  /** Waits until so many bytes may be sent. `touch` is called meanwhile. */
  take(bytes: number, touch: () => void, signal: AbortSignal): Promise<void>;
}

const LONGEST_WAIT_MS = 500;
const MAX_KNOWN = 1_000;

/** Returns the byte rate of each rule, by its uid and the bytes per second that it may send; 0 for no limit. */
export function createByteRates(): (uid: string, bytesPerSecond: number) => ByteRate {
  const freeMs = new Map<string, number>();
  return (uid, bytesPerSecond) => ({
    async take(bytes, touch, signal) {
      touch();
      if (bytesPerSecond === 0) return;
      if (freeMs.size > MAX_KNOWN) freeMs.clear();
      const startMs = Math.max(performance.now(), freeMs.get(uid) ?? 0);
      freeMs.set(uid, startMs + (bytes / bytesPerSecond) * 1000);
      for (let leftMs = startMs - performance.now(); leftMs > 0; leftMs = startMs - performance.now()) {
        await wait(Math.min(leftMs, LONGEST_WAIT_MS), undefined, { signal });
        touch();
      }
    },
  });
}
