import { createLru } from "./lru.ts";

/** So many requests a second over time, and so many at once after a rest. */
export interface RateLimit {
  perSecond: number;
  burst: number;
}

/** One token bucket for each key. */
export interface RateLimiter {
  /** Takes one token. Answers 0, or in how many milliseconds there will be one; then nothing is taken. */
  take(key: string, nowMs: number): number;
  /** Takes one token more, of a request that was let in; the bucket may then be in debt by one. */
  charge(key: string, nowMs: number): void;
}

/** When a bucket will be full again, in milliseconds since 1970. */
interface Bucket {
  fullMs: number;
}

/**
 * Token buckets, each a single number (the "virtual scheduling" of ITU-T I.371), so that none needs a timer. At most
 * `maxKeys` are remembered: whoever was not heard of the longest starts anew with a full one.
 */
export function createRateLimiter({ perSecond, burst }: RateLimit, maxKeys: number): RateLimiter {
  const tokenMs = 1000 / perSecond;
  const buckets = createLru<string, Bucket>(maxKeys);
  const bucketOf = (key: string): Bucket => {
    const known = buckets.get(key);
    if (known !== undefined) return known;
    const bucket = { fullMs: 0 };
    buckets.set(key, bucket);
    return bucket;
  };
  // A clock that was set back must not leave anybody waiting until it is where it was.
  const fullFrom = ({ fullMs }: Bucket, nowMs: number): number =>
    Math.max(nowMs, Math.min(fullMs, nowMs + (burst + 1) * tokenMs));
  return {
    take(key, nowMs) {
      const bucket = bucketOf(key);
      const fullMs = fullFrom(bucket, nowMs) + tokenMs;
      const waitMs = fullMs - nowMs - burst * tokenMs;
      // What is less than this is the rounding of the division above.
      if (waitMs > 1e-3) return waitMs;
      bucket.fullMs = fullMs;
      return 0;
    },
    charge(key, nowMs) {
      const bucket = bucketOf(key);
      bucket.fullMs = fullFrom(bucket, nowMs) + tokenMs;
    },
  };
}
