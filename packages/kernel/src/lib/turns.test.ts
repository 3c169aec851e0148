import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createTurns, sortInTurns } from "./turns.ts";

/** Keeps the thread busy for longer than a turn. */
function step(): void {
  const endMs = performance.now() + 11;
  while (performance.now() < endMs);
}

test("several long loops do one turn each time that other work gets its chance", async () => {
  let steps = 0;
  const loop = async (): Promise<void> => {
    const turn = createTurns();
    for (let at = 0; at < 5; at += 1) {
      step();
      steps += 1;
      await turn();
    }
  };
  const loops = Promise.all(Array.from({ length: 6 }, loop));
  // Each has begun with a step of its own.
  const chances: number[] = [];
  for (let before = steps; steps < 30; before = steps) {
    await setImmediate();
    chances.push(steps - before);
  }
  await loops;
  assert.ok(Math.max(...chances) <= 1, `steps between two chances: ${chances.join(", ")}`);
});

test("sorting in turns answers what sorting at once answers, equal items in their order", async () => {
  for (const length of [0, 1, 2_000, 2_001, 9_999]) {
    const items = Array.from({ length }, (_, at) => ({ rank: randomInt(50), at }));
    const compare = (a: { rank: number }, b: { rank: number }): number => a.rank - b.rank;
    assert.deepEqual(await sortInTurns(items, compare, createTurns()), items.toSorted(compare));
  }
});
