import assert from "node:assert/strict";
import { test } from "node:test";
import { goalsOf, markdown, summarize } from "./report.ts";
import type { Against, Row, Sample } from "./rows.ts";
import { pick } from "./run.ts";

function row(title: string, against: Row["against"] = []): Row {
  return { title, unit: "/s", against, measure: () => Promise.reject(new Error("not measured here")) };
}

function measured(other: Sample[], ours: Sample[], goal: number | Omit<Against, "title">) {
  const wanted = typeof goal === "number" ? { goal } : goal;
  return summarize({
    title: "section",
    rows: [
      { row: row("other"), samples: other },
      { row: row("ours", [{ title: "other", ...wanted }]), samples: ours },
    ],
  });
}

test("the figure of a row is the median, and its ratio that of medians", () => {
  const { lines } = measured(
    [{ rate: 10 }, { rate: 1000 }, { rate: 20 }],
    [{ rate: 30 }, { rate: 50 }, { rate: 40 }],
    2,
  );
  assert.deepEqual(
    lines.map(({ median, lowest, highest }) => [median, lowest, highest]),
    [
      [20, 10, 1000],
      [40, 30, 50],
    ],
  );
  assert.deepEqual(lines[1]?.against, [{ title: "other", ratio: 2, counts: 2, goal: 2, reached: true }]);
});

test("processor time decides when the load generator was the limit", () => {
  const other = { rate: 100, cpuUs: 10, loadShare: 0.99 };
  const [, line] = measured([other], [{ rate: 90, cpuUs: 40, loadShare: 0.5 }], 0.35).lines;
  assert.equal(line?.against[0]?.counts, 0.25);
  assert.equal(line.against[0].reached, false);
  const [, calm] = measured([{ ...other, loadShare: 0.9 }], [{ rate: 90, cpuUs: 40, loadShare: 0.5 }], 0.35).lines;
  assert.equal(calm?.against[0]?.reached, true);
});

test("a goal for processor time is judged by it alone", () => {
  const [other, ours] = [
    { rate: 100, cpuUs: 10 },
    { rate: 90, cpuUs: 20 },
  ];
  const [byRate, byCpu] = [{ goal: 0.6 }, { goal: 0.6, byCpu: true }].map((goal) => measured([other], [ours], goal));
  assert.equal(byRate?.lines[1]?.against[0]?.reached, true);
  assert.equal(byCpu?.lines[1]?.against[0]?.reached, false);
});

test("a time reaches its goal up to the maximum ratio", () => {
  for (const [rate, reached] of [
    [15, true],
    [15.1, false],
  ] as const) {
    const section = measured([{ rate: 10 }], [{ rate }], { most: 1.5 });
    assert.deepEqual(
      goalsOf([section], []).map((goal) => [goal.aim, goal.reached]),
      [["at most 1.5 ×", reached]],
    );
  }
});

test("a failed row reaches no goal, and neither does a row that is compared with it", () => {
  const good = { rate: 100 };
  const bad = { rate: 1000, failure: "500" };
  for (const section of [
    measured([good], [good, bad], 0.5),
    measured([good, bad], [good], 0.5),
    measured([good], [{ rate: 0, failure: "no answer" }], 0.5),
  ]) {
    const [goal] = goalsOf([section], []);
    assert.equal(goal?.reached, false);
    assert.match(markdown({ sections: [section], figures: [], zb: [], goals: [] }), /fail/);
  }
});

test("a row with a minimum rate reaches it, or not", () => {
  for (const [samples, reached] of [
    [[{ rate: 1_000 }], true],
    [[{ rate: 999 }], false],
    [[{ rate: 2_000 }, { rate: 0, failure: "no answer" }], false],
  ] as [Sample[], boolean][]) {
    const section = summarize({ title: "section", rows: [{ row: { ...row("ours"), least: 1_000 }, samples }] });
    assert.deepEqual(
      goalsOf([section], []).map((goal) => [goal.aim, goal.reached]),
      [["at least 1,000 /s", reached]],
    );
  }
});

test("a row with a maximum time reaches it, or not", () => {
  for (const [samples, reached] of [
    [[{ rate: 1_000 }], true],
    [[{ rate: 1_001 }], false],
    [[{ rate: 500 }, { rate: 0, failure: "no answer" }], false],
  ] as [Sample[], boolean][]) {
    const section = summarize({
      title: "section",
      rows: [{ row: { ...row("ours"), unit: "ms", most: 1_000 }, samples }],
    });
    assert.deepEqual(
      goalsOf([section], []).map((goal) => [goal.aim, goal.reached]),
      [["at most 1,000 ms", reached]],
    );
  }
});

test("a figure reaches its goal up to its maximum", () => {
  const figures = [
    { title: "a", value: 150, unit: "MiB", most: 150 },
    { title: "b", value: 150.1, unit: "MiB", most: 150 },
    { title: "c", value: 1, unit: "ms" },
  ];
  assert.deepEqual(
    goalsOf([], figures).map(({ reached }) => reached),
    [true, false],
  );
});

test("the report says why zb did not run a test", () => {
  const done = { name: "Push", perSecond: 10, failed: 0, p50: "1ms" };
  const zb = [
    { registry: "whole", tests: [done] },
    { registry: "early", tests: [], aborted: "404 for the tags" },
  ];
  const text = markdown({ sections: [], figures: [], goals: [], zb });
  assert.match(text, /\| Push +\| 10\.0 \/s, 1ms \| not run \|/);
  assert.match(text, /^early: zb aborted: 404 for the tags$/m);
});

test("rows are selected by words, together with all they are compared with", () => {
  const rows = [row("limit"), row("first", [{ title: "limit" }]), row("deep", [{ title: "first" }]), row("else")];
  const titles = (...words: string[]): string[] => pick({ title: "Pages", rows }, words).map(({ title }) => title);
  const all = rows.map(({ title }) => title);
  assert.deepEqual(titles("deep"), ["limit", "first", "deep"]);
  assert.deepEqual(titles("else", "fir"), ["limit", "first", "else"]);
  assert.deepEqual(titles("pages"), all);
  assert.deepEqual(titles(), all);
  assert.deepEqual(titles("nothing"), []);
});
