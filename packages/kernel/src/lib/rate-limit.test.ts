import assert from "node:assert/strict";
import { test } from "node:test";
import { createRateLimiter } from "./rate-limit.ts";

const NOW = 1_790_000_000_000;

test("a burst is allowed immediately, then one request per interval; the answered waiting time is exact", () => {
  const limiter = createRateLimiter({ perSecond: 3, burst: 5 }, 10);
  for (let count = 0; count < 5; count++) assert.equal(limiter.take("a", NOW), 0);
  const waitMs = limiter.take("a", NOW);
  assert.ok(Math.abs(waitMs - 1000 / 3) < 0.01, String(waitMs));
  assert.ok(limiter.take("a", NOW + waitMs - 1) > 0);
  assert.equal(limiter.take("a", NOW + waitMs), 0);
  assert.ok(limiter.take("a", NOW + waitMs) > 0);
  assert.equal(limiter.take("b", NOW), 0, "each key has its own");
});

test("over a long time, as many requests are allowed as the rate says, whenever they come", () => {
  const limiter = createRateLimiter({ perSecond: 7, burst: 7 }, 10);
  let taken = 0;
  for (let ms = 0; ms < 60_000; ms += 13) if (limiter.take("a", NOW + ms) === 0) taken++;
  assert.ok(Math.abs(taken - (60 * 7 + 7)) <= 1, String(taken));
});

test("a charge takes one more token, and no bucket is ever in debt by more than one", () => {
  const limiter = createRateLimiter({ perSecond: 1, burst: 4 }, 10);
  for (let count = 0; count < 2; count++) {
    assert.equal(limiter.take("a", NOW), 0);
    limiter.charge("a", NOW);
  }
  assert.equal(Math.round(limiter.take("a", NOW)), 1000);
  for (let count = 0; count < 50; count++) limiter.charge("a", NOW);
  assert.ok(limiter.take("a", NOW) <= 3000);
});

test("with more keys than the maximum, the least recently used key is forgotten", () => {
  const limiter = createRateLimiter({ perSecond: 1, burst: 1 }, 2);
  for (const key of ["a", "b"]) assert.equal(limiter.take(key, NOW), 0);
  assert.ok(limiter.take("a", NOW) > 0);
  assert.equal(limiter.take("c", NOW), 0);
  assert.ok(limiter.take("a", NOW) > 0, "used since");
  assert.equal(limiter.take("b", NOW), 0, "forgotten");
});
