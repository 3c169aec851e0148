import assert from "node:assert/strict";
import { test } from "node:test";
import { countSeverities, severityWords } from "./severities.ts";

const findings = (...words: string[]) => words.map((word) => ({ severity: `FINDING_SEVERITY_${word}` }));

test("findings are counted by severity; what has none of the four is counted too", () => {
  const counts = countSeverities(findings("LOW", "CRITICAL", "LOW", "HIGH", "UNKNOWN", "NEGLIGIBLE"));
  assert.deepEqual(counts, { critical: 1, high: 1, medium: 0, low: 2, other: 2 });
  assert.equal(severityWords(counts), "1 critical, 1 high, 0 medium, 2 low, 2 of other or unknown severity");
});

test("without findings nothing is said of others", () => {
  assert.equal(severityWords(countSeverities([])), "0 critical, 0 high, 0 medium, 0 low");
});
