import assert from "node:assert/strict";
import { test } from "node:test";
import { createAdaptiveRate } from "./adaptive-rate.ts";

const delivered = { isDelivered: true, startMs: 0, nowMs: 10 };

test("each delivery raises the concurrency by one, up to the bound; a failure resets it to one", () => {
  const adaptiveRate = createAdaptiveRate(4, 5_000);
  assert.equal(adaptiveRate.concurrency(), 1);
  for (let n = 0; n < 10; n += 1) adaptiveRate.ended(delivered);
  assert.equal(adaptiveRate.concurrency(), 4);
  adaptiveRate.ended({ isDelivered: false, startMs: 10, nowMs: 20 });
  assert.deepEqual([adaptiveRate.concurrency(), adaptiveRate.batch()], [1, 1]);
  adaptiveRate.ended({ isDelivered: true, startMs: 15, nowMs: 25 });
  assert.deepEqual(
    [adaptiveRate.concurrency(), adaptiveRate.failures()],
    [1, 1],
    "a delivery that began before the failure does not raise the concurrency",
  );
  adaptiveRate.ended({ isDelivered: true, startMs: 25, nowMs: 30 });
  assert.deepEqual([adaptiveRate.concurrency(), adaptiveRate.failures()], [2, 0]);
});

test("concurrent attempts that fail count as one failure, and the rest after each failure doubles up to a bound", () => {
  const adaptiveRate = createAdaptiveRate(16, 60_000);
  let nowMs = 1_000;
  for (let n = 0; n < 16; n += 1) adaptiveRate.ended({ isDelivered: false, startMs: 0, nowMs });
  assert.deepEqual([adaptiveRate.failures(), adaptiveRate.readyInMs(nowMs)], [1, 0]);
  const rests = Array.from({ length: 10 }, () => {
    adaptiveRate.ended({ isDelivered: false, startMs: nowMs, nowMs });
    const restMs = adaptiveRate.readyInMs(nowMs);
    nowMs += restMs;
    return restMs;
  });
  assert.deepEqual(rests, [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
});

test("a rest is at most the first delay of the retry schedule, and at most a minute when the sink asks for it", () => {
  const adaptiveRate = createAdaptiveRate(16, 70);
  for (let n = 0; n < 9; n += 1) adaptiveRate.ended({ isDelivered: false, startMs: n, nowMs: n });
  assert.equal(adaptiveRate.readyInMs(8), 70);
  adaptiveRate.ended({ isDelivered: false, startMs: 100, nowMs: 100, restMs: 86_400_000 });
  assert.equal(adaptiveRate.readyInMs(100), 60_000);
});

test("no minute has more attempts than the sink allows, and over time the allowed rate is used up", () => {
  for (const rate of [1, 7, 60, 600, 6_000, 90_000]) {
    const adaptiveRate = createAdaptiveRate(16, 5_000);
    adaptiveRate.allow(rate, 0, true);
    const began: number[] = [];
    for (let nowMs = 0; nowMs < 180_000;) {
      const waitMs = adaptiveRate.readyInMs(nowMs);
      nowMs += waitMs;
      if (waitMs > 0 || nowMs >= 180_000) continue;
      adaptiveRate.began(nowMs);
      began.push(nowMs);
    }
    const inMinuteFrom = (at: number): number => began.filter((one) => one >= at && one < at + 59_999).length;
    assert.ok(
      [0, 1, 30_000, 60_000.5, 100_000].every((at) => inMinuteFrom(at) <= rate),
      `${rate}`,
    );
    assert.ok(began.length >= 2.9 * rate - 1, `${rate} ${began.length}`);
  }
});

test("a process that takes over a subscription assumes that the allowed burst is used up", () => {
  const adaptiveRate = createAdaptiveRate(16, 5_000);
  adaptiveRate.allow(60, 1_000, false);
  assert.equal(adaptiveRate.readyInMs(1_000), 1_000);
  adaptiveRate.allow(60, 1_500, false);
  assert.equal(adaptiveRate.readyInMs(1_500), 500, "setting the same rate again changes nothing");
  adaptiveRate.allow(0, 1_500, false);
  assert.equal(adaptiveRate.readyInMs(1_500), 0);
});

test("the batch is what the sink takes in about a second", () => {
  const adaptiveRate = createAdaptiveRate(16, 5_000);
  assert.equal(adaptiveRate.batch(), 4);
  for (let n = 0; n < 100; n += 1) adaptiveRate.ended(delivered);
  assert.equal(adaptiveRate.batch(), 256);
  const slow = createAdaptiveRate(16, 5_000);
  for (let n = 0; n < 100; n += 1) slow.ended({ ...delivered, nowMs: 10_000 });
  assert.equal(slow.batch(), 16);
  slow.allow(60, 0, true);
  assert.equal(slow.batch(), 1);
});
