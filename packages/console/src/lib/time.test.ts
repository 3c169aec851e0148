import assert from "node:assert/strict";
import { test } from "node:test";
import { isRecorded, relativeTime } from "./time.ts";

const NOW = Date.parse("2026-11-27T12:00:00Z");
const said = (value: string): string => relativeTime(value, NOW);

test("times of the last week are said by their distance", () => {
  assert.equal(said("2026-11-27T11:59:30Z"), "just now");
  assert.equal(said("2026-11-27T11:48:00Z"), "12 min ago");
  assert.equal(said("2026-11-27T09:00:00Z"), "3 h ago");
  assert.equal(said("2026-11-26T10:00:00Z"), "yesterday");
  assert.equal(said("2026-11-24T10:00:00Z"), "3 days ago");
  assert.equal(said("2026-11-29T13:00:00Z"), "in 2 days");
});

test("older ones are dates, with the year when it is another one", () => {
  assert.equal(said("2026-11-09T12:00:00Z"), "Nov 9");
  assert.equal(said("2025-11-09T12:00:00Z"), "Nov 9, 2025");
  assert.equal(said("2027-01-24T12:00:00Z"), "Jan 24, 2027");
});

test("the first day of 1970 is no time that was recorded; a text that is no time stays as it is", () => {
  assert.equal(isRecorded("1970-01-01T00:00:00Z"), false);
  assert.equal(isRecorded("2026-11-09T12:00:00Z"), true);
  assert.equal(said("soon"), "soon");
});
