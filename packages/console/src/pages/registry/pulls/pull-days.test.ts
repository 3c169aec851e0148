import assert from "node:assert/strict";
import { test } from "node:test";
import type { PullCount } from "../../../api/gen/registry.ts";
import { dayBars, isWhole } from "./pull-days.ts";
import { shownDays } from "./queries.ts";

const DAYS = ["2026-11-24", "2026-11-25", "2026-11-26", "2026-11-27"];
const sum = (day: string, count: string): PullCount => ({
  day,
  repoUid: "g/r",
  name: "acme/app",
  tag: "",
  digest: "",
  identity: "",
  count,
  bytes: "0",
});

test("days before pulls were counted are not known; those of which some are missing are lower bounds", () => {
  const coverage = { since: "2026-11-25T10:00:00Z", lossyDays: ["2026-11-26"], lossyDayCount: 1 };
  const bars = dayBars(DAYS, [sum("2026-11-26", "4")], coverage);
  assert.deepEqual(
    bars.map(({ text }) => text),
    ["not known", "at least 0", "at least 4", "0"],
  );
  assert.equal(isWhole(bars), false);
  assert.equal(isWhole(bars.slice(3)), true);
});

test("where not all days with losses are named, every day is a lower bound", () => {
  const coverage = { since: "2026-11-01T10:00:00Z", lossyDays: ["2026-11-26"], lossyDayCount: 40 };
  assert.ok(dayBars(DAYS, [], coverage).every(({ isPartial }) => isPartial));
});

test("without coverage nothing is known", () => {
  assert.ok(dayBars(DAYS, [], undefined).every(({ value }) => value === undefined));
});

test("30 days of UTC end with today", () => {
  const days = shownDays(Date.parse("2026-11-27T00:00:01Z"));
  assert.deepEqual([days.length, days[0], days.at(-1)], [30, "2026-10-29", "2026-11-27"]);
});
