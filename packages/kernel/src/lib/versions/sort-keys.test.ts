import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareVersions, numberKey, semverKey } from "./index.ts";
import { compareDigits, compareText } from "./text.ts";

test("keys of numbers are in the order of the numbers", () => {
  const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 40 });
  const same = fc.property(digits, digits, (a, b) => {
    assert.equal(Math.sign(compareText(numberKey(a), numberKey(b))), Math.sign(compareDigits(a, b)), `${a} ${b}`);
  });
  fc.assert(same, { numRuns: 5_000 });
});

const part = fc.oneof(fc.nat(12).map(String), fc.constantFrom("alpha", "beta", "rc", "x-y", "A", "alpha1", "-"));
const version = fc
  .record({
    numbers: fc.tuple(fc.nat(30), fc.nat(12), fc.oneof(fc.nat(3), fc.constant(9_007_199_254_740_990))),
    pre: fc.array(part, { maxLength: 3 }),
    build: fc.constantFrom("", "+one", "+2"),
  })
  .map(({ numbers, pre, build }) => `${numbers.join(".")}${pre.length === 0 ? "" : `-${pre.join(".")}`}${build}`);

test("keys of semantic versions are in the order of the versions", () => {
  const same = fc.property(version, version, (a, b) => {
    assert.equal(
      Math.sign(compareText(semverKey(a), semverKey(b))),
      Math.sign(compareVersions("semver", a, b)),
      `${a} ${b}`,
    );
  });
  fc.assert(same, { numRuns: 20_000 });
  assert.ok(semverKey("latest") < semverKey("0.0.0-0"));
});
