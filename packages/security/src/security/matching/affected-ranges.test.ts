import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { VersionOrder } from "@moorage/kernel/lib/versions";
import { type Affected, compileAffected, isAffected, type RangeEvent } from "./affected-ranges.ts";

const compiled = (events: RangeEvent[], more: Affected = {}): ReturnType<typeof compileAffected> =>
  compileAffected("semver", { ranges: [{ type: "SEMVER", events }], ...more });
const affectedOf = (events: RangeEvent[], versions: string[], more: Affected = {}): string[] =>
  versions.filter((version) => isAffected(compiled(events, more), version).isAffected);
const VERSIONS = ["0.0.0-0", "1.0.0-rc.1", "1.0.0", "1.5.0", "2.0.0", "3.0.0"];

test("events say which versions are affected", () => {
  assert.deepEqual(affectedOf([{ introduced: "0" }], VERSIONS), VERSIONS);
  assert.deepEqual(affectedOf([{ introduced: "0" }, { fixed: "1.0.0" }], VERSIONS), ["0.0.0-0", "1.0.0-rc.1"]);
  assert.deepEqual(affectedOf([{ last_affected: "1.5.0" }, { introduced: "1.0.0" }], VERSIONS), ["1.0.0", "1.5.0"]);
  assert.deepEqual(
    affectedOf([{ introduced: "2.0.0" }, { fixed: "1.5.0" }, { introduced: "1.0.0" }, { fixed: "3.0.0" }], VERSIONS),
    ["1.0.0", "2.0.0"],
  );
  assert.deepEqual(affectedOf([{ introduced: "0" }, { limit: "1.5.0" }], VERSIONS), VERSIONS.slice(0, 3));
  assert.deepEqual(
    affectedOf([{ introduced: "0" }, { limit: "1.0.0" }, { limit: "2.0.0" }], VERSIONS),
    VERSIONS.slice(0, 4),
  );
  assert.deepEqual(affectedOf([{ introduced: "0" }, { limit: "1.0.0" }, { limit: "*" }], VERSIONS), VERSIONS);
  assert.deepEqual(affectedOf([{ fixed: "2.0.0" }], VERSIONS), []);
});

test("one version that is introduced and fixed changes nothing", () => {
  const both = [{ fixed: "1.5.0" }, { introduced: "1.5.0" }];
  for (const events of [both, both.toReversed()]) {
    assert.deepEqual(affectedOf(events, VERSIONS), []);
    assert.deepEqual(affectedOf([...events, { introduced: "0" }, { fixed: "2.0.0" }], VERSIONS), VERSIONS.slice(0, 4));
  }
});

test("lists count beside ranges, and ranges beside each other", () => {
  assert.deepEqual(affectedOf([{ introduced: "2.0.0" }], VERSIONS, { versions: ["v1.0.0"] }), [
    "1.0.0",
    "2.0.0",
    "3.0.0",
  ]);
  const ranges = [
    { type: "ECOSYSTEM", events: [{ introduced: "3.0.0" }] },
    { type: "SEMVER", events: [{ introduced: "0" }, { fixed: "1.0.0-rc.1" }] },
    { type: "GIT", events: [{ introduced: "0" }] },
  ];
  assert.deepEqual(affectedOf([], VERSIONS, { ranges }), ["0.0.0-0", "3.0.0"]);
  for (const nothing of [
    {},
    { ranges: [], versions: [] },
    { ranges: null, versions: null },
    { ranges: ranges.slice(2) },
  ])
    assert.deepEqual(isAffected(compileAffected("semver", nothing), "1.0.0"), {
      isAffected: false,
      fixed: [],
      lastAffected: [],
    });
});

test("what a version's order cannot place is only looked for in the list, and in ranges of all versions", () => {
  const all = compiled([{ introduced: "0" }, { fixed: "2.0.0" }], { versions: ["(devel)"] });
  assert.deepEqual(isAffected(all, "(devel)"), { isAffected: true, fixed: ["2.0.0"], lastAffected: [] });
  assert.equal(isAffected(all, "devel").isAffected, false);
  assert.equal(isAffected(all, "").isAffected, false);
  assert.equal(isAffected(compiled([{ introduced: "0" }]), "(devel)").isAffected, true);
  const legacy = compileAffected("pypi", {
    ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1.0" }] }],
  });
  assert.equal(isAffected(legacy, "0.1-bulbasaur").isAffected, true);
});

test("where a range names what cannot be read, all that may lie in it is affected", () => {
  const cases: [events: RangeEvent[], affected: string[]][] = [
    [[{ introduced: "0" }, { fixed: "soon" }], VERSIONS],
    [
      [{ introduced: "1.5.0" }, { fixed: "" }],
      ["1.5.0", "2.0.0", "3.0.0"],
    ],
    [
      [{ introduced: "1.5.0" }, { last_affected: "soon" }],
      ["1.5.0", "2.0.0", "3.0.0"],
    ],
    // It goes on to the next end that can be read.
    [[{ introduced: "1.0.0" }, { fixed: "x" }, { introduced: "1.5.0" }, { fixed: "3.0.0" }], VERSIONS.slice(2, 5)],
    [[{ introduced: "x" }], VERSIONS],
    [[{ introduced: "x" }, { fixed: "2.0.0" }], VERSIONS.slice(0, 4)],
    [[{ introduced: "x" }, { last_affected: "2.0.0" }], VERSIONS.slice(0, 5)],
    [[{ introduced: "x" }, { fixed: "y" }], VERSIONS],
    [[{ introduced: "1.0.0" }, { fixed: "1.5.0" }, { introduced: "x" }, { fixed: "3.0.0" }], VERSIONS.slice(0, 5)],
    [[{ introduced: "0" }, { limit: "x" }, { limit: "2.0.0" }], VERSIONS],
  ];
  for (const [events, affected] of cases)
    assert.deepEqual(affectedOf(events, VERSIONS), affected, JSON.stringify(events));
  for (const order of [
    "semver",
    "pypi",
    "composer",
    "rubygems",
    "nuget",
    "cran",
    "pub",
    "dpkg",
    "apk",
    "rpm",
  ] as const) {
    const range = compileAffected(order, {
      ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "no / version" }] }],
    });
    assert.equal(isAffected(range, "1.0.0").isAffected, true, `${order}: it was fixed before all versions`);
  }
});

test("each ecosystem's ranges are evaluated in its own order", () => {
  const cases: [order: VersionOrder, introduced: string, fixed: string, affected: string[], not: string[]][] = [
    ["composer", "5.0", "5.4.20", ["v5.0.0", "5.4.20-RC1", "5.4.19.1"], ["5.0-beta1", "v5.4.20", "5.4.20-p1", "6.0"]],
    ["rubygems", "7.0.0", "7.0.4.1", ["7.0.0", "7.0.4", "7.0.4.1.rc1"], ["7.0.0.rc1", "7.0.4.1", "7.0.10"]],
    ["nuget", "4.0", "4.0.1.2", ["4.0.0", "4.0.1.1", "4.0.1.2-rc.1"], ["4.0.0-rc.1", "4.0.1.2", "4.0.1.10"]],
    ["cran", "0.9", "1.0-5", ["0.9.1", "1.0.4", "1.0"], ["0.8", "1.0.5", "1.0-10"]],
    ["pub", "0.13.0", "0.13.3+1", ["0.13.0", "0.13.3"], ["0.13.0-dev", "0.13.3+1", "0.13.3+2"]],
    ["semver", "1.7.0", "1.7.14", ["1.7.0", "1.7.14-rc.1"], ["1.7.0-rc.1", "1.7.14"]],
  ];
  for (const [order, introduced, fixed, affected, not] of cases) {
    const range = compileAffected(order, { ranges: [{ type: "ECOSYSTEM", events: [{ introduced }, { fixed }] }] });
    for (const each of affected) assert.deepEqual(isAffected(range, each).fixed, [fixed], `${order} ${each}`);
    for (const each of not) assert.equal(isAffected(range, each).isAffected, false, `${order} ${each}`);
  }
});

test("what is no version of its ecosystem stands before all versions, so that it is not taken for a fixed one", () => {
  for (const order of ["composer", "rubygems", "nuget", "cran"] as const) {
    const range = compileAffected(order, {
      ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "2.0" }] }],
    });
    for (const each of ["dev-main", "9.x-custom build", "main"])
      assert.deepEqual(isAffected(range, each).fixed, ["2.0"], `${order} ${each}`);
    assert.equal(isAffected(range, "").isAffected, false);
  }
});

test("fixes are those of the ranges that affect the version", () => {
  const events = [{ introduced: "0" }, { fixed: "1.0.0" }, { introduced: "2.0.0" }, { fixed: "2.1.0" }];
  const other = { type: "SEMVER", events: [{ introduced: "0" }, { last_affected: "0.9.0" }] };
  const both = compileAffected("semver", { ranges: [{ type: "SEMVER", events }, other], versions: ["1.5.0"] });
  assert.deepEqual(isAffected(both, "0.5.0"), { isAffected: true, fixed: ["1.0.0"], lastAffected: ["0.9.0"] });
  assert.deepEqual(isAffected(both, "0.9.1"), { isAffected: true, fixed: ["1.0.0"], lastAffected: [] });
  assert.deepEqual(isAffected(both, "2.0.5"), { isAffected: true, fixed: ["2.1.0"], lastAffected: [] });
  // Only in the list: what is fixed behind it.
  assert.deepEqual(isAffected(both, "1.5.0"), { isAffected: true, fixed: ["2.1.0"], lastAffected: [] });
  // A version that is in the list by mistake does not fix itself; the last affected one is affected.
  const ends = compileAffected("semver", {
    ranges: [
      {
        type: "SEMVER",
        events: [{ introduced: "0" }, { fixed: "1.0.0" }, { introduced: "2.0.0" }, { last_affected: "3.0.0" }],
      },
    ],
    versions: ["1.0.0"],
  });
  assert.deepEqual(isAffected(ends, "1.0.0"), { isAffected: true, fixed: [], lastAffected: ["3.0.0"] });
  assert.deepEqual(isAffected(ends, "3.0.0"), { isAffected: true, fixed: [], lastAffected: ["3.0.0"] });
  assert.deepEqual(isAffected(both, "1.0.0"), { isAffected: false, fixed: [], lastAffected: [] });
});

const KINDS = ["introduced", "fixed", "last_affected"] as const;
const version = (number: number): string => (number === 0 ? "0" : `1.${number}.0`);
const events = (isUnique: boolean): fc.Arbitrary<{ kind: (typeof KINDS)[number]; at: number }[]> => {
  const event = fc.record({ kind: fc.constantFrom(...KINDS), at: fc.integer({ min: 0, max: 9 }) });
  return isUnique
    ? fc.uniqueArray(event, { selector: ({ at }) => at, maxLength: 8 })
    : fc.array(event, { maxLength: 8 });
};
const limits = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 2 });

/** What OSV's specification says, for numbers in place of versions, all events at different versions. */
function asSpecified(all: { kind: string; at: number }[], before: number[], asked: number): boolean {
  if (before.length > 0 && !before.some((limit) => asked < limit)) return false;
  let vulnerable = false;
  for (const { kind, at } of all.toSorted((a, b) => a.at - b.at)) {
    if (kind === "introduced" && asked >= at) vulnerable = true;
    else if (kind === "fixed" && asked >= at) vulnerable = false;
    else if (kind === "last_affected" && asked > at) vulnerable = false;
  }
  return vulnerable;
}

test("ranges are evaluated as OSV specifies", () => {
  const specified = fc.property(fc.array(fc.tuple(events(true), limits), { maxLength: 3 }), (ranges) => {
    const stored = JSON.stringify(
      compileAffected("semver", {
        ranges: ranges.map(([all, before]) => ({
          type: "SEMVER",
          events: [
            ...all.map(({ kind, at }) => ({ [kind]: version(at) })),
            ...before.map((at) => ({ limit: version(at) })),
          ],
        })),
      }),
    );
    for (let asked = 1; asked <= 12; asked += 1)
      assert.equal(
        isAffected(JSON.parse(stored) as ReturnType<typeof compileAffected>, version(asked)).isAffected,
        ranges.some(([all, before]) => asSpecified(all, before, asked)),
        `${stored} ${asked}`,
      );
  });
  fc.assert(specified, { numRuns: 3000 });
});

test("the order of events in a record does not count, also of those at one version", () => {
  const inAnyOrder = fc.property(events(false), fc.infiniteStream(fc.nat()), (all, dice) => {
    const given = all.map(({ kind, at }) => ({ [kind]: version(at) }));
    const shuffled = given
      .map((event) => ({ event, by: dice.next().value ?? 0 }))
      .toSorted((a, b) => a.by - b.by)
      .map(({ event }) => event);
    assert.deepEqual(compiled(shuffled), compiled(given));
  });
  fc.assert(inAnyOrder, { numRuns: 3000 });
});

test("a local version is affected where a range or list says nothing of local versions", () => {
  const isHit = (affected: Affected, version: string): boolean =>
    isAffected(compileAffected("pypi", affected), version).isAffected;
  const range = (...events: RangeEvent[]): Affected => ({ ranges: [{ type: "ECOSYSTEM", events }] });
  const until = range({ introduced: "2.5.0" }, { last_affected: "2.5.0" });
  for (const affected of [{ versions: ["2.5"] }, until, range({ introduced: "2.5.0" }, { fixed: "2.5.1" })]) {
    assert.equal(isHit(affected, "2.5.0+cpu"), true);
    assert.equal(isHit(affected, "2.5.1+cpu"), false);
  }
  assert.deepEqual(isAffected(compileAffected("pypi", until), "2.5.0+cpu").lastAffected, ["2.5.0"]);
  assert.equal(isHit(range({ introduced: "0" }, { fixed: "2.5.0" }), "2.5.0+cpu"), false);
  // What names a local version means it alone.
  assert.equal(isHit({ versions: ["2.5.0+cu118"] }, "2.5.0+cpu"), false);
  assert.equal(isHit({ versions: ["2.5.0+cu118"] }, "2.5.0"), false);
  assert.equal(isHit(range({ introduced: "0" }, { fixed: "2.5.0+cu118" }), "2.5.0+cpu"), true);
});
