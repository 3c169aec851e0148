import assert from "node:assert/strict";
import test from "node:test";
import { type Glob, isApart, isCovered, parseGlob } from "./globs.ts";
import { type Keeps, retentionOfKeeping } from "./retention.ts";

function glob(text: string): Glob {
  const parsed = parseGlob(text);
  assert.ok(parsed);
  return parsed;
}

/** The rules without the first, which keeps what refers to images. */
function rules(parts: [string, Keeps][], immutable: string[] = []): { rules: object[]; notes: string[] } {
  const found = retentionOfKeeping(
    parts.map(([text, keeps]) => ({ glob: glob(text), keeps })),
    immutable,
  );
  const [first, ...rest] = found.rules;
  assert.deepEqual(first, { tagPattern: "sha256-.*", keepFor: "3153600000s" });
  return { rules: rest, notes: found.notes };
}

test("of two patterns it is known whether one covers the other, and whether none matches both", () => {
  for (const [one, other, covered, apart] of [
    ["v1", "v*", true, false],
    ["v*", "**", true, false],
    ["v1.*", "v*", true, false],
    ["v*", "v1.*", false, false],
    ["v*", "dev*", false, true],
    ["{v*,w*}", "x*", false, true],
    ["{v*,w*}", "w1", false, false],
    ["*-rc", "v*", false, false],
    ["v?", "v*", true, false],
    ["latest", "v*", false, true],
  ] as const) {
    assert.equal(isCovered(glob(one), glob(other)), covered, `${one} below ${other}`);
    assert.equal(isApart(glob(one), glob(other)), apart, `${one} apart from ${other}`);
  }
});

test("rules of one pattern are one rule, which keeps what any of them does", () => {
  assert.deepEqual(
    rules([
      ["**", { last: 5 }],
      ["**", { days: 7 }],
      ["**", { last: 3, lastPulled: 2 }],
    ]),
    {
      rules: [{ tagPattern: ".*", keepLast: 5, keepFor: "604800s", keepLastPulled: 2 }],
      notes: [],
    },
  );
});

test("what matches less comes first, and keeps what the wider rules keep, too", () => {
  assert.deepEqual(
    rules([
      ["**", { last: 5 }],
      ["v*", { last: 10 }],
      ["v1.*", { pulledDays: 30 }],
    ]),
    {
      rules: [
        { tagPattern: String.raw`v1\..*`, keepLast: 10, keepPulledFor: "2592000s" },
        { tagPattern: "v.*", keepLast: 10 },
        { tagPattern: ".*", keepLast: 5 },
      ],
      notes: [],
    },
  );
});

test("patterns that may match the same tags, none of which covers the other: all of the first stay", () => {
  const found = rules([
    ["v*", { last: 5 }],
    ["*-rc", { last: 2 }],
  ]);
  assert.deepEqual(found.rules, [
    { tagPattern: "v.*", keepFor: "3153600000s" },
    { tagPattern: String.raw`.*-rc`, keepLast: 2 },
  ]);
  assert.deepEqual(found.notes, [
    "all of v.* stay, since .*-rc may match some of them",
    "tags that no rule matches stay",
  ]);
});

test("a rule that keeps nothing is none, and immutable tags stay", () => {
  assert.deepEqual(
    rules(
      [
        ["dev*", {}],
        ["v*", { all: true }],
      ],
      ["r.*"],
    ),
    {
      rules: [
        { tagPattern: "r.*", keepFor: "3153600000s" },
        { tagPattern: "v.*", keepFor: "3153600000s" },
      ],
      notes: ["all of dev.* stay, since no rule here keeps nothing", "tags that no rule matches stay"],
    },
  );
});

test("numbers beyond what a rule here has keep all", () => {
  assert.deepEqual(rules([["**", { lastPulled: 10_001 }]]).rules, [{ tagPattern: ".*", keepFor: "3153600000s" }]);
  assert.deepEqual(rules([["**", { days: 20_190_904 }]]).rules, [{ tagPattern: ".*", keepFor: "3153600000s" }]);
});
