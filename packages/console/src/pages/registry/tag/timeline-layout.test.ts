import assert from "node:assert/strict";
import { test } from "node:test";
import {
  firstSlotPx,
  following,
  indexAt,
  type Move,
  movesPerPart,
  slotsOf,
  ticksOf,
  timeAt,
  wentBackTo,
  xOf,
  zoomed,
} from "./timeline-layout.ts";

const DAY_MS = 86_400_000;
const move = (timeMs: number, reason = "push", digest = `sha256:${timeMs}`): Move => ({
  timeMs,
  digest,
  isDeletion: reason === "delete",
  reason,
  actor: "",
});
const MOVES = [move(3_000, "delete"), move(2_000), move(1_000)];
const WIDE = { first: 0, slotPx: 100 };

test("the move in force at a time is found", () => {
  assert.equal(indexAt(MOVES, 999), -1);
  assert.equal(indexAt(MOVES, 1_000), 2);
  assert.equal(indexAt(MOVES, 2_999), 1);
  assert.equal(indexAt(MOVES, 9_000), 0);
  assert.equal(indexAt([], 1), -1);
});

test("each move has a slot of the same width, the oldest at the left", () => {
  assert.deepEqual(
    slotsOf(3, WIDE, 1_000).map(({ index, x, width }) => [index, x, width]),
    [
      [2, 0, 100],
      [1, 100, 100],
      [0, 200, 100],
    ],
  );
  assert.equal(firstSlotPx(2, 1_000), 160);
  assert.equal(firstSlotPx(20, 1_000), 50);
  assert.equal(firstSlotPx(2_000, 1_000), 26);
});

test("a million moves make no more slots than fit, and none is lost", () => {
  const slots = slotsOf(1_000_000, { first: 0, slotPx: 1_000 / 1_000_000 }, 1_000);
  assert.ok(slots.length <= 1_000 / 6 + 1, `${slots.length} slots`);
  assert.equal(
    slots.reduce((sum, { count }) => sum + count, 0),
    1_000_000,
  );
});

test("a moment stands in the slot of its move, as far as that has held, and is found there again", () => {
  const NOW = 5_000;
  for (const [timeMs, x] of [
    [1_000, 0],
    [1_500, 50],
    [2_250, 125],
    [4_000, 250],
    [5_000, 300],
  ] as const) {
    assert.equal(xOf(MOVES, WIDE, 1_000, timeMs, NOW), x);
    assert.equal(timeAt(MOVES, WIDE, 1_000, x, NOW), timeMs);
  }
  assert.equal(timeAt(MOVES, WIDE, 1_000, 900, NOW), NOW);
  assert.equal(timeAt(MOVES, WIDE, 1_000, -5, NOW), 1_000);
});

test("what is seen is zoomed around a move, follows it, and stays within the history", () => {
  const view = { first: 0, slotPx: 50 };
  const near = zoomed(view, 2, 10, 100, 1_000);
  assert.equal(near.slotPx, 100);
  assert.ok(near.first <= 10 && near.first + 10 > 10);
  assert.deepEqual(zoomed(near, 1 / 100, 10, 100, 1_000), { first: 0, slotPx: 10 });
  assert.deepEqual(following(view, 50, 100, 1_000), { first: 31, slotPx: 50 });
  assert.deepEqual(following(view, 5, 100, 1_000), view);
  assert.deepEqual(following(view, 99, 100, 1_000), { first: 80, slotPx: 50 });
});

test("days have a tick each; those that were left out a break, and labels that do not fit none", () => {
  const moves = [9, 8.9, 2, 1].map((day) => move(day * DAY_MS));
  const slots = slotsOf(4, { first: 0, slotPx: 30 }, 1_000);
  const ticks = ticksOf(moves, slots);
  assert.deepEqual(ticks.map(({ isBreak }) => isBreak).filter(Boolean).length, 1);
  assert.deepEqual(ticks.map(({ x, isLabeled }) => [x, isLabeled]).slice(0, 2), [
    [0, true],
    [30, false],
  ]);
});

test("a rollback leads to the last move before it that had the same digest", () => {
  const moves = [move(4, "rollback", "a"), move(3, "push", "b"), move(2, "push", "a"), move(1, "push", "a")];
  assert.equal(wentBackTo(moves, 0, 100), 2);
  assert.equal(wentBackTo(moves, 1, 100), -1);
});

test("the overview counts every move in the part of the time that it belongs to", () => {
  assert.deepEqual(movesPerPart(MOVES, 5_000, 4), [1, 1, 1, 0]);
  assert.deepEqual(movesPerPart([move(1_000)], 1_000, 3), [1, 0, 0]);
});
