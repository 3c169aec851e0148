import assert from "node:assert/strict";
import { test } from "node:test";
import { vulnerabilitiesIn } from "./palette-results.ts";

test("vulnerabilities are found by a part of the id or of an alias, each once, at most four", () => {
  const finding = (vulnerability: string, ...aliases: string[]) => ({ vulnerability, aliases });
  const rows = [finding("CVE-2024-3", "GHSA-aaaa-bbbb-cccc"), finding("CVE-2024-3"), finding("CVE-2023-1", "X-2024-3")];
  assert.deepEqual(vulnerabilitiesIn(rows, "2024-3"), [
    { id: "CVE-2024-3", alias: "" },
    { id: "CVE-2023-1", alias: "X-2024-3" },
  ]);
  assert.deepEqual(vulnerabilitiesIn(rows, "ghsa-aaaa"), [{ id: "CVE-2024-3", alias: "GHSA-aaaa-bbbb-cccc" }]);
  const many = Array.from({ length: 9 }, (_, at) => finding(`CVE-2024-1${at}`));
  assert.equal(vulnerabilitiesIn(many, "cve").length, 4);
});
