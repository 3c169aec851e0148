import assert from "node:assert/strict";
import { test } from "node:test";
import { bestChanges, endWords } from "./best-changes.ts";

type Given = Parameters<typeof bestChanges>[0][number];
const finding = (name: string, fix: string, severity: string, kev = false): Given => ({
  package: { name, version: "1.0.0" } as Given["package"],
  fixVersions: fix === "" ? [] : [fix],
  severity: `FINDING_SEVERITY_${severity}` as Given["severity"],
  kev,
});

test("the changes that end exploited and severe findings come first, whatever ends more of them", () => {
  const found = bestChanges(
    [
      finding("qs", "6.14.1", "LOW"),
      finding("qs", "6.14.1", "MEDIUM"),
      finding("zlib", "1.3.2", "CRITICAL"),
      finding("libxml2", "2.13.8", "HIGH", true),
      finding("glibc", "", "CRITICAL"),
    ],
    3,
  );
  assert.deepEqual(
    found.map((change) => [change.package, change.version, endWords(change)]),
    [
      ["libxml2", "2.13.8", "Ends 1 high, exploited"],
      ["zlib", "1.3.2", "Ends 1 critical"],
      ["qs", "6.14.1", "Ends 1 medium, 1 low"],
    ],
  );
});

test("what has no fix is no change, and findings of unknown severity are counted", () => {
  assert.deepEqual(bestChanges([finding("glibc", "", "CRITICAL")], 3), []);
  const [only] = bestChanges([finding("left-pad", "1.3.0", "UNKNOWN")], 3);
  assert.equal(only && endWords(only), "Ends 1 of other or unknown severity");
});
