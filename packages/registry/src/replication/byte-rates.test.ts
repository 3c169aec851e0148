import assert from "node:assert/strict";
import { test } from "node:test";
import { createByteRates, type Timer } from "./byte-rates.ts";

const { signal } = new AbortController();
const nothing = (): void => {};

/** A clock that goes as far as somebody waits. */
function steppedTimer(): Timer & { waits: number[] } {
  let nowMs = 1_000;
  const waits: number[] = [];
  return {
    waits,
    nowMs: () => nowMs,
    async wait(ms, aborting) {
      aborting.throwIfAborted();
      waits.push(ms);
      nowMs += ms;
    },
  };
}

test("bytes are sent at the rate, the first without a wait, and there is a sign of life twice a second", async () => {
  const timer = steppedTimer();
  const rate = createByteRates(timer)("one", 1_024);
  let touches = 0;
  const times: number[] = [];
  for (let n = 0; n < 4; n += 1) {
    await rate.take(2_048, () => (touches += 1), signal);
    times.push(timer.nowMs());
  }
  assert.deepEqual(times, [1_000, 3_000, 5_000, 7_000]);
  assert.deepEqual(timer.waits, Array(12).fill(500));
  assert.equal(touches, 16);
});

test("what sends for one rule shares its rate, and others have their own, or none", async () => {
  const timer = steppedTimer();
  const rateOf = createByteRates(timer);
  await rateOf("one", 1_000).take(1_000, nothing, signal);
  await rateOf("other", 1_000).take(1_000, nothing, signal);
  await rateOf("free", 0).take(2 ** 40, nothing, signal);
  assert.equal(timer.nowMs(), 1_000);
  await rateOf("one", 1_000).take(1_000, nothing, signal);
  assert.equal(timer.nowMs(), 2_000);
  // What was not used is not saved up.
  await timer.wait(60_000, signal);
  await rateOf("one", 1_000).take(3_000, nothing, signal);
  assert.equal(timer.nowMs(), 62_000);
  await rateOf("one", 1_000).take(1, nothing, signal);
  assert.equal(timer.nowMs(), 65_000);
});

test("many rules do not lift the limit of one", async () => {
  const timer = steppedTimer();
  const rateOf = createByteRates(timer);
  await rateOf("one", 1_000).take(10_000, nothing, signal);
  for (let n = 0; n < 2_000; n += 1) await rateOf(`rule ${n}`, 1_000).take(1, nothing, signal);
  await rateOf("one", 1_000).take(1, nothing, signal);
  assert.equal(timer.nowMs(), 11_000);
});

test("a wait ends when it is interrupted", async () => {
  const rate = createByteRates()("one", 1);
  const stopping = new AbortController();
  await rate.take(1_000_000, nothing, stopping.signal);
  const waiting = rate.take(1, nothing, stopping.signal);
  stopping.abort();
  await assert.rejects(waiting, { name: "AbortError" });
});
