import assert from "node:assert/strict";
import { test } from "node:test";
import { createRateLimiter } from "./rate-limit.ts";

const NOW = 1_790_000_000_000;

test("a burst at once, then one for each share of a second; what it says to wait is what it takes", () => {
  const limiter = createRateLimiter({ perSecond: 3, burst: 5 }, 10);
  for (let count = 0; count < 5; count++) assert.equal(limiter.take("a", NOW), 0);
  const waitMs = limiter.take("a", NOW);
  assert.ok(Math.abs(waitMs - 1000 / 3) < 0.01, String(waitMs));
  assert.ok(limiter.take("a", NOW + waitMs - 1) > 0);
  assert.equal(limiter.take("a", NOW + waitMs), 0);
  assert.ok(limiter.take("a", NOW + waitMs) > 0);
  assert.equal(limiter.take("b", NOW), 0, "each key has its own");
});

test("over a long time as many as the rate says, whatever the moments", () => {
  const limiter = createRateLimiter({ perSecond: 7, burst: 7 }, 10);
  let taken = 0;
  for (let ms = 0; ms < 60_000; ms += 13) if (limiter.take("a", NOW + ms) === 0) taken++;
  assert.ok(Math.abs(taken - (60 * 7 + 7)) <= 1, String(taken));
});

test("a charge takes one more, and no debt is larger than that", () => {
  const limiter = createRateLimiter({ perSecond: 1, burst: 4 }, 10);
  for (let count = 0; count < 2; count++) {
    assert.equal(limiter.take("a", NOW), 0);
    limiter.charge("a", NOW);
  }
  assert.equal(Math.round(limiter.take("a", NOW)), 1000);
  for (let count = 0; count < 50; count++) limiter.charge("a", NOW);
  assert.ok(limiter.take("a", NOW) <= 3000);
});

test("a clock that goes back does not lock anybody out", () => {
  const limiter = createRateLimiter({ perSecond: 1, burst: 1 }, 10);
  assert.equal(limiter.take("a", NOW), 0);
  assert.ok(limiter.take("a", NOW - 3_600_000) <= 2000);
});

test("of more keys than it may remember it forgets the one that was heard of least lately", () => {
  const limiter = createRateLimiter({ perSecond: 1, burst: 1 }, 2);
  for (const key of ["a", "b"]) assert.equal(limiter.take(key, NOW), 0);
  assert.ok(limiter.take("a", NOW) > 0);
  assert.equal(limiter.take("c", NOW), 0);
  assert.ok(limiter.take("a", NOW) > 0, "used since");
  assert.equal(limiter.take("b", NOW), 0, "forgotten");
});
