import assert from "node:assert/strict";
import test from "node:test";
import { chosen } from "./claim.ts";

const due = (fresh: number, again: number) => [
  ...Array.from({ length: fresh }, (_, at) => ({ uid: `f${at}`, state: 1 })),
  ...Array.from({ length: again }, (_, at) => ({ uid: `r${at}`, state: 3 })),
];

test("unfinished deliveries are taken first, then half new ones and half retries, as far as there are enough of each", () => {
  assert.deepEqual(chosen([], due(9, 9), 4), ["f0", "f1", "r0", "r1"]);
  assert.deepEqual(chosen([], due(9, 9), 3), ["f0", "f1", "r0"]);
  assert.deepEqual(chosen([], due(1, 9), 4), ["f0", "r0", "r1", "r2"]);
  assert.deepEqual(chosen([], due(9, 1), 4), ["f0", "f1", "f2", "r0"]);
  assert.deepEqual(chosen([], due(9, 0), 2), ["f0", "f1"]);
  assert.deepEqual(chosen([], due(0, 9), 2), ["r0", "r1"]);
  assert.deepEqual(chosen([], due(1, 1), 9), ["f0", "r0"]);
  assert.deepEqual(chosen(["r8", "r7"], due(9, 9), 5), ["r8", "r7", "f0", "f1", "r0"]);
  assert.deepEqual(chosen(["r0", "x"], due(0, 2), 5), ["r0", "x", "r1"]);
  assert.deepEqual(chosen(["x", "y", "z"], due(9, 9), 2), ["x", "y"]);
});
