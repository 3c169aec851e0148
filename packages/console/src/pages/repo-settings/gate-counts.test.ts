import assert from "node:assert/strict";
import { test } from "node:test";
import type { Finding } from "../../api/gen/vulnerabilities.ts";
import { gatedImages } from "./gate-counts.ts";

const NOW_MS = Date.UTC(2026, 10, 28);

const finding = (vulnerability: string, digest: string, severity: string, openTime: string | undefined, kev = false) =>
  ({
    vulnerability,
    digest,
    severity: `FINDING_SEVERITY_${severity}`,
    openTime,
    kev,
    tags: ["1.0"],
    tagsTotal: 1,
    platform: "",
  }) as unknown as Finding;

const FINDINGS = [
  finding("CVE-1", "sha256:a", "CRITICAL", "2026-11-27T00:00:00Z"),
  finding("CVE-2", "sha256:b", "HIGH", "2026-11-01T00:00:00Z"),
  finding("CVE-3", "sha256:b", "LOW", "2026-11-14T00:00:00Z", true),
  finding("CVE-4", "sha256:c", "LOW", undefined),
];

test("an image is there once, those with the most findings first, with the worst: an exploited one before others", () => {
  const images = gatedImages(FINDINGS, 0, NOW_MS);
  assert.deepEqual(
    images.map(({ digest, count, worst }) => [digest, count, worst.vulnerability]),
    [
      ["sha256:b", 2, "CVE-3"],
      ["sha256:a", 1, "CVE-1"],
      ["sha256:c", 1, "CVE-4"],
    ],
  );
});

test("findings count once they have been open for the grace period", () => {
  const digests = (days: number) => gatedImages(FINDINGS, days, NOW_MS).map(({ digest, count }) => [digest, count]);
  assert.deepEqual(digests(14), [["sha256:b", 2]]);
  assert.deepEqual(digests(15), [["sha256:b", 1]]);
  assert.deepEqual(digests(90), []);
});
