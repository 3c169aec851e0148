import assert from "node:assert/strict";
import { test } from "node:test";
import { realData } from "../../../../server/test/support/feed-files.ts";
import { diceOf } from "../../../../server/test/support/dice.ts";
import scores from "../../../../server/test/support/cvss-scores.json" with { type: "json" };
import { readFeed } from "../feeds/read.ts";
import { ratingOf } from "./severity.ts";

type Metrics = Readonly<Record<string, readonly string[]>>;

const BASE_2: Metrics = {
  AV: ["L", "A", "N"],
  AC: ["H", "M", "L"],
  Au: ["M", "S", "N"],
  C: ["N", "P", "C"],
  I: ["N", "P", "C"],
  A: ["N", "P", "C"],
};
const BASE_3: Metrics = {
  AV: ["N", "A", "L", "P"],
  AC: ["L", "H"],
  PR: ["N", "L", "H"],
  UI: ["N", "R"],
  S: ["U", "C"],
  C: ["H", "L", "N"],
  I: ["H", "L", "N"],
  A: ["H", "L", "N"],
};
const BASE_4: Metrics = {
  AV: ["N", "A", "L", "P"],
  AC: ["L", "H"],
  AT: ["N", "P"],
  PR: ["N", "L", "H"],
  UI: ["N", "P", "A"],
  VC: ["H", "L", "N"],
  VI: ["H", "L", "N"],
  VA: ["H", "L", "N"],
  SC: ["H", "L", "N"],
  SI: ["H", "L", "N"],
  SA: ["H", "L", "N"],
};
const MORE_3: Metrics = {
  CR: ["X", "H", "M", "L"],
  IR: ["X", "H", "M", "L"],
  AR: ["X", "H", "M", "L"],
  MAV: ["X", "N", "A", "L", "P"],
  MPR: ["X", "N", "L", "H"],
  MS: ["X", "U", "C"],
  MC: ["X", "H", "L", "N"],
  MA: ["L"],
};
const TEMPORAL_3: Metrics = { E: ["X", "U", "P", "F", "H"], RL: ["X", "O", "T", "W", "U"], RC: ["X", "U", "R", "C"] };
const MORE_4: Metrics = {
  E: ["X", "A", "P", "U"],
  CR: ["X", "H", "M", "L"],
  IR: ["X", "H", "M", "L"],
  AR: ["X", "H", "M", "L"],
  MAV: ["X", "N", "A", "L", "P"],
  MVC: ["X", "H", "L", "N"],
  MSI: ["X", "S", "H", "L", "N"],
};

/** All vectors of these metrics, in the order of their tables. */
function everyVector(metrics: Metrics): string[] {
  return Object.entries(metrics).reduce<string[]>(
    (before, [name, values]) =>
      before.flatMap((text) => values.map((value) => `${text}${text === "" ? "" : "/"}${name}:${value}`)),
    [""],
  );
}

/** So many vectors at random, the same at each run. */
function someVectors(count: number, metrics: Metrics): string[] {
  const dice = diceOf(count);
  return Array.from({ length: count }, () =>
    Object.entries(metrics)
      .map(([name, values]) => `${name}:${dice.pick(values)}`)
      .join("/"),
  );
}

/** The vectors of `scores`, by the name of their set. */
const SETS: Readonly<Record<keyof typeof scores.scores, { type: string; vectors: string[] }>> = {
  "2.0": { type: "CVSS_V2", vectors: everyVector(BASE_2) },
  "3.0": { type: "CVSS_V3", vectors: prefixed("CVSS:3.0", everyVector(BASE_3)) },
  "3.0 temporal": { type: "CVSS_V3", vectors: prefixed("CVSS:3.0", someVectors(500, { ...BASE_3, ...TEMPORAL_3 })) },
  "3.1": { type: "CVSS_V3", vectors: prefixed("CVSS:3.1", everyVector(BASE_3)) },
  "3.1 temporal": { type: "CVSS_V3", vectors: prefixed("CVSS:3.1", someVectors(500, { ...BASE_3, ...TEMPORAL_3 })) },
  "3.1 environmental": { type: "CVSS_V3", vectors: prefixed("CVSS:3.1", someVectors(501, { ...BASE_3, ...MORE_3 })) },
  "4.0": { type: "CVSS_V4", vectors: prefixed("CVSS:4.0", someVectors(1_000, BASE_4)) },
  "4.0 environmental": { type: "CVSS_V4", vectors: prefixed("CVSS:4.0", someVectors(1_001, { ...BASE_4, ...MORE_4 })) },
};

function prefixed(version: string, vectors: readonly string[]): string[] {
  return vectors.map((vector) => `${version}/${vector}`);
}

/** The scores of the sets of base vectors, by vector. */
const KNOWN: ReadonlyMap<string, number> = new Map(
  (["2.0", "3.0", "3.1", "4.0"] as const).flatMap((name) => {
    const others = scores.scores[name].split(" ").map(Number);
    return SETS[name].vectors.map((vector, at): [string, number] => [vector, others[at] ?? NaN]);
  }),
);

for (const [name, { type, vectors }] of Object.entries(SETS))
  test(`${vectors.length} vectors of CVSS ${name} have the scores that another implementation gives them`, () => {
    const others = scores.scores[name as keyof typeof SETS].split(" ").map(Number);
    assert.equal(others.length, vectors.length);
    for (const [at, vector] of vectors.entries())
      assert.equal(ratingOf([{ type, score: vector }])?.score, others[at], vector);
  });

test("published examples have their published scores", () => {
  const examples: [type: string, vector: string, score: number, severity: string][] = [
    // CVSS 2.0, section 3.3: CVE-2002-0392, CVE-2003-0818, CVE-2003-0062.
    ["CVSS_V2", "AV:N/AC:L/Au:N/C:N/I:N/A:C", 7.8, "HIGH"],
    ["CVSS_V2", "AV:N/AC:L/Au:N/C:C/I:C/A:C", 10, "HIGH"],
    ["CVSS_V2", "AV:L/AC:H/Au:N/C:C/I:C/A:C", 6.2, "MEDIUM"],
    // CVSS 3.1, examples: CVE-2013-1937, CVE-2013-0375, CVE-2014-3566, CVE-2012-1516, CVE-2014-0160, CVE-2014-6271.
    ["CVSS_V3", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", 6.1, "MEDIUM"],
    ["CVSS_V3", "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N", 6.4, "MEDIUM"],
    ["CVSS_V3", "CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N", 3.1, "LOW"],
    ["CVSS_V3", "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:H/I:H/A:H", 9.9, "CRITICAL"],
    ["CVSS_V3", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N", 7.5, "HIGH"],
    ["CVSS_V3", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 9.8, "CRITICAL"],
    // CVSS 4.0: the worst of all, and CVE-2022-41741 of its examples.
    ["CVSS_V4", "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H", 10, "CRITICAL"],
    ["CVSS_V4", "CVSS:4.0/AV:L/AC:L/AT:P/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 7.3, "HIGH"],
  ];
  for (const [type, vector, score, severity] of examples)
    assert.deepEqual(ratingOf([{ type, score: vector }]), { score, severity }, vector);
});

test("every vector of the published data has the same score", async (t) => {
  let compared = 0;
  for (const name of ["osv-pypi.zip", "osv-go.zip"]) {
    const source = realData(t, name);
    if (source === undefined) return;
    for await (const { record } of readFeed("osv", source)) {
      const { severity } = JSON.parse(record?.body ?? "{}") as { severity?: { type: string; score: string }[] };
      for (const each of severity ?? []) {
        compared += 1;
        assert.equal(ratingOf([each])?.score, KNOWN.get(each.score), each.score);
      }
    }
  }
  assert.equal(compared, 202);
});
