import assert from "node:assert/strict";
import { test } from "node:test";
import { axisTop, monthLabels, stackedPaths, unknownRuns } from "./day-chart-shapes.ts";

const day = (day: string, values?: readonly number[]) => ({ day, values });

test("days that are not known have no shape, and are hatched together", () => {
  const days = [
    day("2026-11-01"),
    day("2026-11-02"),
    day("2026-11-03", [1, 2]),
    day("2026-11-04"),
    day("2026-11-05", [0, 4]),
  ];
  assert.deepEqual(unknownRuns(days), [
    { from: 0, length: 2 },
    { from: 3, length: 1 },
  ]);
  assert.deepEqual(stackedPaths(days, { series: 2, top: 4, height: 100 }), [
    "M2 100V75h1V100z",
    "M2 75V25h1V75zM4 100V0h1V100z",
  ]);
});

test("the axis ends at a round even number that is not below any day", () => {
  const tops = [[], [0], [1], [3], [5], [9], [10], [11], [37], [433], [84_200]].map((values) =>
    axisTop([day("2026-11-01", values)]),
  );
  assert.deepEqual(tops, [2, 2, 2, 4, 6, 10, 10, 20, 40, 600, 100_000]);
});

test("months are named where they begin, unless the next name would touch", () => {
  const from = Date.UTC(2026, 7, 30);
  const days = Array.from({ length: 90 }, (_, at) => day(new Date(from + at * 86_400_000).toISOString().slice(0, 10)));
  assert.deepEqual(monthLabels(days), [
    { at: 2, text: "Sep" },
    { at: 32, text: "Oct" },
    { at: 63, text: "Nov" },
  ]);
});
