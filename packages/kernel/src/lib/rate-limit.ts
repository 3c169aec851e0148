import { createLru } from "./lru.ts";

/** The rate of requests over time, and how many may come together after an idle time. */
export interface RateLimit {
  perSecond: number;
  burst: number;
}

/** A token bucket for each key. */
export interface RateLimiter {
  /**
   * Takes one token and returns 0. Without a token, takes nothing and returns the milliseconds until there is one.
   * `nowMs`: the monotonic clock, whose times never go back.
   */
  take(key: string, nowMs: number): number;
  /** What `take` would return; takes nothing. */
  waitMs(key: string, nowMs: number): number;
  /** Takes one more token for a request that was already allowed; the bucket may then be in debt by one. */
  charge(key: string, nowMs: number): void;
}

/** The time at which the bucket will be full again, in milliseconds of the monotonic clock. */
interface Bucket {
  fullMs: number;
}

/**
 * Token buckets, each a single number (the "virtual scheduling" of ITU-T I.371), so that none needs a timer. At most
 * `maxKeys` are stored: the least recently used key starts again with a full bucket.
 */
export function createRateLimiter({ perSecond, burst }: RateLimit, maxKeys: number): RateLimiter {
  const tokenMs = 1000 / perSecond;
  const buckets = createLru<string, Bucket>(maxKeys);
  const bucketOf = (key: string): Bucket => {
    const known = buckets.get(key);
    if (known !== undefined) return known;
    const bucket = { fullMs: -Infinity };
    buckets.set(key, bucket);
    return bucket;
  };
  // Charges leave a bucket in debt by one token at most.
  const fullFrom = ({ fullMs }: Bucket, nowMs: number): number =>
    Math.max(nowMs, Math.min(fullMs, nowMs + (burst + 1) * tokenMs));
  /** How long it takes until a bucket that would be full at that time has one token. */
  const waitOf = (fullMs: number, nowMs: number): number => {
    const waitMs = fullMs - nowMs - burst * tokenMs;
    // Smaller values are rounding errors of the division above.
    return waitMs > 1e-3 ? waitMs : 0;
  };
  return {
    take(key, nowMs) {
      const bucket = bucketOf(key);
      const fullMs = fullFrom(bucket, nowMs) + tokenMs;
      const waitMs = waitOf(fullMs, nowMs);
      if (waitMs === 0) bucket.fullMs = fullMs;
      return waitMs;
    },
    waitMs(key, nowMs) {
      const known = buckets.get(key);
      return known === undefined ? 0 : waitOf(fullFrom(known, nowMs) + tokenMs, nowMs);
    },
    charge(key, nowMs) {
      const bucket = bucketOf(key);
      bucket.fullMs = fullFrom(bucket, nowMs) + tokenMs;
    },
  };
}
