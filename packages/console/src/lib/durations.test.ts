import assert from "node:assert/strict";
import { test } from "node:test";
import { daysOf, durationOfDays, durationOfMinutes, minutesOf } from "./durations.ts";

test("durations stand in fields as days and minutes, and come back whole", () => {
  assert.equal(daysOf("2592000s"), "30");
  assert.equal(durationOfDays("30"), "2592000s");
  assert.equal(durationOfDays("0.5"), "43200s");
  assert.equal(minutesOf("600s"), "10");
  assert.equal(durationOfMinutes("10"), "600s");
  assert.deepEqual([daysOf(undefined), durationOfDays(" "), durationOfMinutes("")], ["", undefined, undefined]);
});
