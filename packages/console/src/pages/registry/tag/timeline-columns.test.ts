import assert from "node:assert/strict";
import { test } from "node:test";
import { columnWords, findingParts, measureOf, packagesIn, plainParts } from "./timeline-columns.ts";

test("a column has what it is made of from the baseline up, and says the whole", () => {
  const { parts, total, text } = findingParts({ critical: 1, high: 2, medium: 0, low: 1_000, other: 0 });
  assert.deepEqual([parts[0], total, text], [["critical", 1], 1_003, "1,003"]);
  assert.deepEqual(plainParts("size", 1_572_864), {
    parts: [["plain", 1_572_864]],
    total: 1_572_864,
    text: "1.50 MiB",
  });
  assert.equal(plainParts("packages", 1_200).text, "1,200");
});

test("a column says in words what it stands for, and what is not known", () => {
  assert.equal(columnWords("size", plainParts("size", 1_572_864)), "1.50 MiB");
  assert.equal(columnWords("packages", plainParts("packages", 1)), "1 package");
  const counts = { critical: 0, high: 2, medium: 0, low: 0, other: 0 };
  assert.equal(columnWords("findings", findingParts(counts)), "2 findings");
  const more = findingParts({ ...counts, high: 200 }, true);
  assert.deepEqual([more.text, columnWords("findings", more)], ["200+", "at least 200 findings"]);
  assert.equal(columnWords("findings", undefined), "findings not known");
});

test("what an image holds is not known where one of its platforms was not read", () => {
  const read = { state: "KNOWLEDGE_STATE_READ", packages: 12 };
  assert.equal(packagesIn([read, { state: "KNOWLEDGE_STATE_NO_DATA", packages: 14 }]), 14);
  assert.equal(packagesIn([read, { state: "KNOWLEDGE_STATE_NOT_READ", packages: 3 }]), undefined);
  assert.equal(packagesIn([]), undefined);
  assert.equal(measureOf("size"), "size");
  assert.equal(measureOf("toString"), "findings");
});
