import assert from "node:assert/strict";
import { test } from "node:test";
import type { GroupUsage } from "../../../api/gen/registry.ts";
import { byGroup, growthWords, periodLabel, periodName, pullWords, sizeWords, trafficWords } from "./usage-words.ts";

const row = (fields: Partial<GroupUsage>): GroupUsage => ({
  groupUid: "g",
  name: "acme",
  period: "2026-11",
  bytesAtLeast: false,
  incomplete: false,
  costLabels: {},
  ...fields,
});

test("what is not known is said to be, and is never 0", () => {
  const none = row({});
  const words = [sizeWords(none), growthWords(none), pullWords(none), trafficWords(none)];
  assert.deepEqual(words, ["not known", "not known", "not known", "not known"]);
  const zero = row({ bytes: "0", growth: "0", pulls: "0", trafficBytes: "0" });
  assert.deepEqual(
    [sizeWords(zero), growthWords(zero), pullWords(zero), trafficWords(zero)],
    ["0 B", "unchanged", "0", "0 B"],
  );
});

test("lower bounds say so, and growth its direction", () => {
  const partial = row({ bytes: "2048", bytesAtLeast: true, growth: "-1024", pulls: "3", incomplete: true });
  assert.equal(sizeWords(partial), "at least 2.00 KiB");
  assert.equal(growthWords(partial), "−1.00 KiB");
  assert.equal(pullWords(partial), "at least 3");
  assert.equal(growthWords(row({ growth: "1024" })), "+1.00 KiB");
});

test("periods are named in UTC, whatever the reader's zone", () => {
  assert.deepEqual([periodName("2026-11"), periodName("2026-11-01")], ["November 2026", "Nov 1"]);
  assert.deepEqual([periodLabel("2026-11", 3, 12), periodLabel("2026-11-27", 29, 30)], ["Nov", "27"]);
  assert.equal(periodLabel("2026-11-26", 28, 30), "");
});

test("rows stand together by group", () => {
  const groups = byGroup([row({}), row({ period: "2026-12" }), row({ groupUid: "h" })]);
  assert.deepEqual(
    groups.map((rows) => rows.length),
    [2, 1],
  );
});
