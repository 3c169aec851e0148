import assert from "node:assert/strict";
import { test } from "node:test";
import { ageText, cellText, sizeText } from "./cells.ts";

const NOW_MS = Date.parse("2026-06-01T12:00:00Z");

test("times are ages in the largest unit that fits, before and after now", () => {
  const ages: readonly [string, string][] = [
    ["2026-06-01T12:00:00.4Z", "now"],
    ["2026-06-01T11:59:18Z", "42s ago"],
    ["2026-06-01T11:00:01Z", "59m ago"],
    ["2026-06-01T09:00:00Z", "3h ago"],
    ["2026-05-03T12:00:00Z", "29d ago"],
    ["2026-03-01T12:00:00Z", "3mo ago"],
    ["2023-05-01T12:00:00Z", "3y ago"],
    ["2026-06-06T12:00:00Z", "in 5d"],
    ["soon", "soon"],
  ];
  for (const [time, age] of ages) assert.equal(ageText(time, NOW_MS), age, time);
});

test("sizes are one word", () => {
  assert.deepEqual(["0", "1023", "1536", "5368709120", "all"].map(sizeText), [
    "0B",
    "1023B",
    "1.5KiB",
    "5.0GiB",
    "all",
  ]);
});

test("a cell is short for people, whole in a pipe, and as the API has it for programs", () => {
  const digest = `sha256:${"0123456789abcdef".repeat(4)}`;
  assert.equal(cellText(digest, "digest", "short", NOW_MS), "sha256:0123456789ab");
  assert.equal(cellText(digest, "digest", "whole", NOW_MS), digest);
  const uid = `${"0123456789".repeat(4)}/fedcba9876543210`;
  assert.equal(cellText(uid, "path", "short", NOW_MS), "01234567…76543210");
  assert.equal(cellText(uid, "path", "whole", NOW_MS), uid);
  assert.equal(cellText("acme/app", "path", "short", NOW_MS), "acme/app");
  assert.equal(cellText("2026-06-01T09:00:00.123Z", "time", "whole", NOW_MS), "2026-06-01T09:00:00.123Z");
  assert.equal(cellText("1536", "bytes", "whole", NOW_MS), "1.5KiB");
  assert.equal(cellText("1536", "bytes", "raw", NOW_MS), "1536");
  assert.equal(cellText("a\u001b[2Jb\nc\u202e", "text", "whole", NOW_MS), "a?[2Jb c?");
  assert.equal(cellText("a\u001b[2Jb\nc", "text", "raw", NOW_MS), "a\u001b[2Jb\nc");
});
