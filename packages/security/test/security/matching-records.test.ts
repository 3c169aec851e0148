import assert from "node:assert/strict";
import { test } from "node:test";
import { compareVersions } from "../../../kernel/src/lib/versions/index.ts";
import { type Affected, compileAffected, isAffected } from "../../src/security/matching/affected-ranges.ts";
import { packageKey, versionOrder } from "../../src/security/matching/package-keys.ts";
import { allOf, realData } from "../../../server/test/support/feed-files.ts";

interface OsvRecord {
  id: string;
  affected?: (Affected & { package: { ecosystem: string; name: string } })[];
}

async function recordsOf(source: string): Promise<OsvRecord[]> {
  const { records } = await allOf("osv", source);
  return records.map(({ body }) => JSON.parse(body) as OsvRecord);
}

const fixesOf = ({ ranges }: Affected): string[] =>
  (ranges ?? [])
    .filter(({ type }) => type !== "GIT")
    .flatMap(({ events }) => events ?? [])
    .flatMap(({ fixed }) => fixed ?? []);

/** Versions that a record of PyPI lists, but that are in none of its ranges. */
const LISTED_OUTSIDE = {
  // The list has the fixed version and what followed it.
  "PYSEC-2023-177": ["23.9.0", "23.9.0.post1"],
  // Of two fixes, 2.11.6 and 2.11.7, the list goes to the second. The ranges overlap, and the first fix ends both.
  "PYSEC-2021-114": ["2.11.6"],
  // Pre-releases of 3.2 and 4.2, which are before the versions that are named as the first affected.
  "PYSEC-2023-61": ["3.2a1", "3.2b1", "3.2rc1", "4.2a1", "4.2b1", "4.2rc1"],
  // It has no ranges.
  "PYSEC-2024-1": ["0.5"],
};

/** Fixed versions that the same record says to be affected. */
const FIXED_AND_AFFECTED = {
  // In the list, as above.
  "PYSEC-2023-177": ["23.9.0"],
  "PYSEC-2021-114": ["2.11.6"],
  // Where one range ends, the next begins.
  "PYSEC-2023-72": ["3.1.1", "3.2.0"],
  "PYSEC-2022-236": ["3.1.1"],
  "PYSEC-2022-42972": ["0.13.0"],
};

test("what records list is affected and what they call fixed is not, but for what is explained", async (t) => {
  const [pypi, go] = [realData(t, "osv-pypi.zip"), realData(t, "osv-go.zip")];
  if (pypi === undefined || go === undefined) return;
  const outside: Record<string, string[]> = {};
  const fixedAndAffected: Record<string, string[]> = {};
  const counts = { listed: 0, fixed: 0 };
  for (const record of [...(await recordsOf(pypi)), ...(await recordsOf(go))])
    for (const affected of record.affected ?? []) {
      const order = versionOrder(packageKey(affected.package) ?? "");
      assert.ok(order !== undefined, record.id);
      const whole = compileAffected(order, affected);
      const byRange = { ...whole, versions: [] };
      assert.equal(whole.ranges.length, (affected.ranges ?? []).filter(({ type }) => type !== "GIT").length, record.id);
      for (const version of affected.versions ?? []) {
        counts.listed += 1;
        const verdict = isAffected(whole, version);
        assert.ok(verdict.isAffected, `${record.id} ${version}`);
        for (const fix of verdict.fixed)
          assert.equal(compareVersions(order, fix, version), 1, `${record.id} ${version}`);
        if (!isAffected(byRange, version).isAffected) (outside[record.id] ??= []).push(version);
      }
      for (const fix of new Set(fixesOf(affected))) {
        counts.fixed += 1;
        if (isAffected(whole, fix).isAffected) (fixedAndAffected[record.id] ??= []).push(fix);
      }
    }
  assert.deepEqual(outside, LISTED_OUTSIDE);
  assert.deepEqual(fixedAndAffected, FIXED_AND_AFFECTED);
  assert.deepEqual(counts, { listed: 140_847, fixed: 10_226 });
});
