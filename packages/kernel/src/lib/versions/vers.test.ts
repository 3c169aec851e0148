import assert from "node:assert/strict";
import { test } from "node:test";
import { parseVersionRange, VersionRangeError } from "./vers.ts";

const npm = { scheme: "npm", order: "semver" } as const;
const inRange = (text: string, versions: string[]): string[] => {
  const range = parseVersionRange(text, npm);
  return versions.filter((version) => range.has(version));
};

test("a range has the versions between its bounds, and those that it names", () => {
  const all = ["0.9.0", "1.0.0", "1.2.0", "1.3.9", "1.4.0", "1.5.0", "2.0.0", "2.1.0"];
  assert.deepEqual(inRange("vers:npm/>=1.0.0|<1.4.0", all), ["1.0.0", "1.2.0", "1.3.9"]);
  assert.deepEqual(inRange("vers:npm/<1.4.0|>=1.0.0", all), ["1.0.0", "1.2.0", "1.3.9"]);
  assert.deepEqual(inRange("vers:npm/>1.0.0|<=1.4.0", all), ["1.2.0", "1.3.9", "1.4.0"]);
  assert.deepEqual(inRange("vers:npm/1.2.0|=2.0.0", all), ["1.2.0", "2.0.0"]);
  assert.deepEqual(inRange("vers:npm/<1.0.0|>=2.0.0", all), ["0.9.0", "2.0.0", "2.1.0"]);
  assert.deepEqual(inRange("vers:npm/>=1.0.0|!=1.2.0|<1.5.0", all), ["1.0.0", "1.3.9", "1.4.0"]);
  assert.deepEqual(inRange("vers:npm/>=1.0.0|<1.2.0|>1.3.9|<=2.0.0", all), ["1.0.0", "1.4.0", "1.5.0", "2.0.0"]);
  assert.deepEqual(inRange("vers:npm/*", all), all);
  assert.deepEqual(inRange("vers:npm/<=1.0.0", ["1.0.0-rc.1", "1.0.0", "not a version"]), ["1.0.0-rc.1", "1.0.0"]);
  const maven = parseVersionRange("vers:maven/>=1.0-alpha|<1.0", { scheme: "maven", order: "maven" });
  assert.deepEqual(
    ["1.0-alpha-1", "1.0-SNAPSHOT", "1.0"].map((version) => maven.has(version)),
    [true, true, false],
  );
});

test("a range without a local version takes the local ones of Python", () => {
  const has = (text: string, version: string): boolean =>
    parseVersionRange(`vers:pypi/${text}`, { scheme: "pypi", order: "pypi" }).has(version);
  for (const text of ["2.5.0", "<=2.5.0", ">=2.5.0|<2.5.1", ">2.4.1|<=2.5"])
    assert.equal(has(text, "2.5.0+cpu"), true, text);
  for (const text of ["!=2.5.0|<3", ">2.5.0", "<2.5.0", "2.5.0+cu118", "2.5.0%2Bcu118"])
    assert.equal(has(text, "2.5.0+cpu"), false, text);
  assert.equal(has("2.5.0%2Bcpu", "2.5.0+cpu"), true);
  assert.equal(has("2.5.0%2Bcpu", "2.5.0"), false);
  assert.equal(has(">=2.0|!=2.5.0|2.5.0%2Bcpu", "2.5.0+cpu"), true);
});

test("what is no range is rejected with the reason", () => {
  const reasons = {
    "npm/>=1.0.0": /must be as in/,
    "vers:pypi/>=1.0": /range of vers:npm/,
    "vers:npm/>=x": /"x", which is no version/,
    "vers:npm/>=1.0.0|>=1.1.0": /by turns/,
    "vers:npm/<1.0.0|<1.1.0": /by turns/,
    "vers:npm/>=1.0.0|<1.0": /twice/,
    "vers:npm/>=%zz": /percent-encoding/,
    "vers:npm/>=1.0.0|": /"", which is no version/,
  };
  for (const [text, reason] of Object.entries(reasons))
    assert.throws(
      () => parseVersionRange(text, npm),
      (error) => error instanceof VersionRangeError && reason.test(error.message),
    );
});
