import assert from "node:assert/strict";
import test from "node:test";
import { durationMs, durationText } from "./duration.ts";

test("a duration is shown in the largest units, as it is read", () => {
  for (const [ms, text] of [
    [0, "0s"],
    [250, "250ms"],
    [90_000, "1m30s"],
    [604_800_000, "7d"],
    [129_600_000, "1d12h"],
    [90_061_001, "1d1h1m1s1ms"],
  ] as const) {
    assert.equal(durationText(ms), text);
    if (ms > 0) assert.equal(durationMs(text), ms);
  }
  for (const text of ["", "7", "d7", "1 d", "-1s"]) assert.equal(durationMs(text), undefined, text);
});
