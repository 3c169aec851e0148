import assert from "node:assert/strict";
import { test } from "node:test";
import { following, indexAt, layOut, type Move, wholeSpan, zoomed } from "./timeline-layout.ts";

const move = (timeMs: number, isDeletion = false): Move => ({
  timeMs,
  digest: `sha256:${timeMs}`,
  isDeletion,
  reason: isDeletion ? "delete" : "push",
  actor: "",
});
const MOVES = [move(3_000, true), move(2_000), move(1_000)];

test("the move in force at a time is found", () => {
  assert.equal(indexAt(MOVES, 999), -1);
  assert.equal(indexAt(MOVES, 1_000), 2);
  assert.equal(indexAt(MOVES, 2_999), 1);
  assert.equal(indexAt(MOVES, 9_000), 0);
  assert.equal(indexAt([], 1), -1);
});

test("each move has a bar that ends where the next one begins", () => {
  const bars = layOut(MOVES, { fromMs: 0, toMs: 4_000 }, 400);
  assert.deepEqual(
    bars.map(({ x, width, index, count, isDeletion }) => [x, width, index, count, isDeletion]),
    [
      [100, 100, 2, 1, false],
      [200, 100, 1, 1, false],
      [300, 100, 0, 1, true],
    ],
  );
});

test("a move before what is seen is drawn from the left edge, one after it not at all", () => {
  const bars = layOut(MOVES, { fromMs: 1_500, toMs: 2_500 }, 100);
  assert.deepEqual(
    bars.map(({ x, width, index }) => [x, width, index]),
    [
      [0, 50, 2],
      [50, 50, 1],
    ],
  );
});

test("a million moves make no more bars than fit, and none is lost", () => {
  const moves = Array.from({ length: 1_000_000 }, (_, at) => move(1_000_000 - at));
  const bars = layOut(moves, wholeSpan(moves, 1_000_001), 1_000);
  assert.ok(bars.length <= 1_000 / 6 + 1, `${bars.length} bars`);
  assert.equal(
    bars.reduce((sum, { count }) => sum + count, 0),
    moves.length,
  );
});

test("what is seen is zoomed around a moment, and stays within the whole", () => {
  const whole = { fromMs: 0, toMs: 100_000 };
  assert.deepEqual(zoomed(whole, whole, 50_000, 0.5), { fromMs: 25_000, toMs: 75_000 });
  assert.deepEqual(zoomed({ fromMs: 25_000, toMs: 75_000 }, whole, 30_000, 8), whole);
  assert.deepEqual(following({ fromMs: 0, toMs: 10 }, 100), { fromMs: 95, toMs: 105 });
  assert.deepEqual(following({ fromMs: 0, toMs: 10 }, 5), { fromMs: 0, toMs: 10 });
});
