import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { compareVersions, isMavenPrerelease, mavenKey, pypiKey } from "./index.ts";
import { compareText } from "./text.ts";

const number = fc.oneof(fc.nat(12), fc.constantFrom(0, 20_260_131, 123_456_789_012)).map(String);
const suffixes = fc.tuple(
  fc.constantFrom("", "a1", "b2", "rc1", "rc10", "-alpha", ".c3"),
  fc.constantFrom("", ".post1", "-2", ".post12"),
  fc.constantFrom("", ".dev0", ".dev12"),
  fc.constantFrom("", "+1", "+2.a", "+2", "+ubuntu.1", "+abc"),
);
const python = fc
  .record({ epoch: fc.constantFrom("", "", "1!"), numbers: fc.array(number, { minLength: 1, maxLength: 4 }), suffixes })
  .map(({ epoch, numbers, suffixes: ends }) => `${epoch}${numbers.join(".")}${ends.join("")}`);

test("keys of Python versions are in the order of PEP 440", () => {
  const same = fc.property(python, python, (a, b) => {
    assert.equal(Math.sign(compareText(pypiKey(a), pypiKey(b))), Math.sign(compareVersions("pypi", a, b)), `${a} ${b}`);
  });
  fc.assert(same, { numRuns: 20_000 });
  assert.ok(pypiKey("2004-snapshot") < pypiKey("0.dev0"));
});

const maven = fc
  .tuple(
    fc.array(fc.nat(12), { minLength: 2, maxLength: 4 }),
    fc.constantFrom(
      "",
      "-alpha-1",
      "-beta2",
      "-M3",
      "-rc1",
      "-RC10",
      "-SNAPSHOT",
      ".Final",
      "-jre",
      "-1",
      "-20260131.101112-3",
    ),
  )
  .map(([numbers, end]) => numbers.join(".") + end);

test("keys of Maven versions are in Maven's order", () => {
  const same = fc.property(maven, maven, (a, b) => {
    assert.equal(
      Math.sign(compareText(mavenKey(a), mavenKey(b))),
      Math.sign(compareVersions("maven", a, b)),
      `${a} ${b}`,
    );
  });
  fc.assert(same, { numRuns: 20_000 });
  const inOrder = ["4.1.0.Alpha2", "4.1.0.Beta1", "4.1.0.CR1", "4.1.0-SNAPSHOT", "4.1.0.Final", "4.1.0.1", "4.1.1"];
  assert.deepEqual(
    [...inOrder].sort((a, b) => compareText(mavenKey(a), mavenKey(b))),
    inOrder,
  );
});

const FOLDER = path.resolve(import.meta.dirname, "../../../../../../shared/data/versions");
const UNKNOWN = /^\/\//;

for (const [file, keyOf, most] of [
  ["pypi-generated.txt", pypiKey, 0],
  ["maven.txt", mavenKey, 0],
  // Maven's order is not transitive: 2.9.0.RC1 < 2.9.0 < 2.9.0-1 < 2.9.0.RC1.
  ["maven-generated.txt", mavenKey, 9],
] as const)
  test(`keys are in the order of the pairs of ${file}, but for ${most}`, (t) => {
    if (!existsSync(FOLDER))
      return t.skip("put osv-scalibr's pairs of versions into ../shared/data/versions to run this");
    const pairs = readFileSync(path.join(FOLDER, file), "utf8")
      .split("\n")
      .flatMap((line) => {
        const [, a, sign, b] = /^(\S.*?) ([<>=]) (\S.*)$/.exec(line.trim()) ?? [];
        return UNKNOWN.test(line) || a === undefined || b === undefined ? [] : [{ a, b, sign }];
      });
    assert.ok(pairs.length > 50);
    const different = pairs.filter(({ a, b, sign }) => {
      const order = compareText(keyOf(a), keyOf(b));
      return sign !== (order < 0 ? "<" : order > 0 ? ">" : "=");
    });
    assert.equal(different.length, most, JSON.stringify(different.slice(0, 5)));
  });

test("what comes before a release is a pre-release of Maven", () => {
  for (const version of ["2.0-rc1", "2.0.RC1", "1.0-M3", "1.0-alpha-2", "1.0b2", "1.0-cr1", "1.0-SNAPSHOT"])
    assert.equal(isMavenPrerelease(version), true, version);
  for (const version of ["1.0", "1.0.Final", "1.0-1", "33.0-jre", "1.0-sp1", "5.0.GA", "r09"])
    assert.equal(isMavenPrerelease(version), false, version);
});
