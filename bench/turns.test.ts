import assert from "node:assert/strict";
import { test } from "node:test";
import type { Line } from "./report.ts";
import { comparison, type Run, turnsTable } from "./turns.ts";

const line = (title: string, fields: Partial<Line>): Line => ({
  title,
  unit: "/s",
  median: 100,
  lowest: 100,
  highest: 100,
  against: [],
  ...fields,
});

const run = (lines: Line[], startMs: number): Run => ({
  sections: [{ title: "section", lines }],
  figures: [{ title: "start to ready", value: startMs, unit: "ms" }],
});

test("two builds are compared turn by turn: by processor time where it is known, and what has no pair is named", () => {
  const turns = [
    {
      before: run([line("pull", { cpuUs: 60 }), line("events", {}), line("old", {})], 900),
      after: run([line("pull", { cpuUs: 30 }), line("events", { median: 150 }), line("new", {})], 300),
    },
    {
      before: run([line("pull", { cpuUs: 80 }), line("events", {}), line("old", {})], 800),
      after: run([line("pull", { cpuUs: 80 }), line("events", { median: 50 }), line("new", {})], 400),
    },
  ];
  const found = comparison(turns);
  assert.deepEqual(found, {
    rows: [
      { title: "pull", unit: "server µs", before: 70, after: 55, ratios: [2, 1] },
      { title: "events", unit: "/s", before: 100, after: 100, ratios: [1.5, 0.5] },
      { title: "start to ready", unit: "ms", before: 850, after: 350, ratios: [3, 2] },
    ],
    notCompared: ["old", "new"],
  });
  assert.match(turnsTable(found), /in one build only, or failed:\n- old\n- new$/);
});

test("a row that failed in one turn is not compared", () => {
  const good = run([line("pull", { cpuUs: 60 })], 1);
  const failed = run([line("pull", { failure: "status 500" })], 1);
  const { rows, notCompared } = comparison([
    { before: good, after: good },
    { before: good, after: failed },
  ]);
  assert.deepEqual([rows.map(({ title }) => title), notCompared], [["start to ready"], ["pull"]]);
});
