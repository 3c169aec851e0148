import assert from "node:assert/strict";
import { test } from "node:test";
import { changeWords } from "./findings-change.ts";

const NONE = { critical: 0, high: 0, medium: 0, low: 0, other: 0 };

test("findings that differ are said by severity, from the worst", () => {
  assert.equal(changeWords({ ...NONE, critical: 1, low: 2 }, { ...NONE, low: 5 }), "−1 critical, +3 low");
  assert.equal(changeWords(NONE, { ...NONE, other: 1 }), "+1 of other severity");
  assert.equal(changeWords(NONE, NONE), "the same number");
});
