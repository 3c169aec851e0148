import assert from "node:assert/strict";
import { test } from "node:test";
import { sparklineShapes } from "./sparkline-shapes.ts";

const SIZE = { width: 102, height: 22, padding: 1 };

test("a line goes from the least to the largest value, and breaks where values are not known", () => {
  const { line, area, end } = sparklineShapes([0, undefined, 5, 10], SIZE);
  assert.equal(line, "M1 21M67.7 11L101 1", "a day that is not known is no 0");
  assert.equal(area, "M1 22L1 21L1 22zM67.7 22L67.7 11L101 1L101 22z");
  assert.deepEqual(end, { x: 101, y: 1 });
});

test("values that are all alike lie in the middle, and without any there is nothing", () => {
  assert.equal(sparklineShapes([3, 3], SIZE).line, "M1 11L101 11");
  assert.deepEqual(sparklineShapes([undefined, undefined], SIZE), { line: "", area: "", end: undefined });
  assert.deepEqual(sparklineShapes([7], SIZE).end, { x: 1, y: 11 });
});
