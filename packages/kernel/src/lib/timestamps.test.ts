import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isoTime } from "./timestamps.ts";

const LATEST_MS = 8_640_000_000_000_000;

test("a time has the text that a Date has, on the same day, another one, and at both ends of all dates", () => {
  for (const ms of [0, 1, -1, 999, 86_399_999, 86_400_000, 1_760_000_000_007, LATEST_MS, -LATEST_MS])
    assert.equal(isoTime(ms), new Date(ms).toISOString());
  const time = fc.integer({ min: -LATEST_MS, max: LATEST_MS });
  fc.assert(fc.property(time, (ms) => isoTime(ms) === new Date(ms).toISOString()));
  const soon = fc.integer({ min: 1_760_000_000_000, max: 1_760_200_000_000 });
  fc.assert(fc.property(soon, (ms) => isoTime(ms) === new Date(ms).toISOString()));
});
