import { createLru } from "./lru.ts";

/** How much work may be done for each key over time. */
export interface WorkBudget {
  /** Milliseconds until work may be done for the key; 0 when it may be done now. */
  waitMs(key: string): number;
  /** Takes the work from the key's budget, which may then be in debt: `waitMs` says for how long. */
  spend(key: string, units: number): void;
}

export interface WorkRate {
  perSecond: number;
  /** The units that a key has saved after an idle time. */
  burst: number;
}

/**
 * A budget for each of at most `maxKeys` keys: the least recently used key starts again with a full one. Unlike a rate
 * limit it is charged after the work, when its size is known. Measured by the monotonic clock.
 */
export function createWorkBudget({ perSecond, burst }: WorkRate, maxKeys: number): WorkBudget {
  const buckets = createLru<string, { left: number; atMs: number }>(maxKeys);
  const refilled = (key: string): { left: number; atMs: number } => {
    const nowMs = performance.now();
    const bucket = buckets.get(key) ?? { left: burst, atMs: nowMs };
    bucket.left = Math.min(burst, bucket.left + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    return bucket;
  };
  return {
    waitMs(key) {
      const { left } = refilled(key);
      return left > 0 ? 0 : Math.ceil((-left / perSecond) * 1000) + 1;
    },
    spend(key, units) {
      const bucket = refilled(key);
      bucket.left -= units;
      buckets.set(key, bucket);
    },
  };
}
