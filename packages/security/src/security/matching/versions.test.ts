import assert from "node:assert/strict";
import { test } from "node:test";
import { packageRow } from "../catalog/rows.ts";
import { isAtLeast, isSameVersion } from "./versions.ts";

const held = (purl: string, name: string, version: string, source: readonly string[] = []) => {
  const [sourceName = "", sourceVersion = ""] = source;
  return packageRow({ purl, name, version, sourceName, sourceVersion, licence: "", layer: "", path: "", reader: "" });
};
const npm = held("pkg:npm/lodash@4.17.20", "lodash", "4.17.20");
const python = held("pkg:pypi/ruamel-yaml@0.18.0rc1", "ruamel.yaml", "0.18.0rc1");
const go = held("pkg:golang/stdlib@go1.22.1", "stdlib", "go1.22.1");
const deb = held("pkg:deb/debian/libssl3@3.0.11-1%2Bb1?distro=debian-12", "libssl3", "3.0.11-1+b1", [
  "openssl",
  "3.0.11-1",
]);
const rpm = held("pkg:rpm/rocky/openssl-libs@1:3.0.7-2?distro=rocky-9.3", "openssl-libs", "1:3.0.7-2", [
  "openssl",
  "3.0.7-2",
]);
const unknown = held("pkg:generic/thing@1.0", "thing", "1.0");

test("a package is compared in the order of its ecosystem, by the version of what is named", () => {
  const cases: [at: ReturnType<typeof held>, name: string, version: string, isReached: boolean][] = [
    [npm, "lodash", "4.17.20", true],
    [npm, "lodash", "4.17.3", true],
    [npm, "lodash", "4.17.21", false],
    [npm, "lodash", "4.18.0-rc.1", false],
    // No version by the rules of npm: it is only the same or another.
    [npm, "lodash", "four", false],
    [python, "ruamel_yaml", "0.17", true],
    [python, "ruamel.yaml", "0.18.0", false],
    [go, "stdlib", "1.22.1", true],
    [go, "stdlib", "go1.22", true],
    [go, "stdlib", "1.23.0", false],
    // The build that was made again is later than its source.
    [deb, "libssl3", "3.0.11-1+b1", true],
    [deb, "openssl", "3.0.11-1", true],
    [deb, "openssl", "3.0.11-1+b1", false],
    [deb, "openssl", "3.0.11~rc1", true],
    // Sources of RPMs are named without the epoch.
    [rpm, "openssl", "1:3.0.7-2", true],
    [rpm, "openssl", "1:3.0.7-3", false],
    [rpm, "openssl-libs", "1:3.0.7-1", true],
    [unknown, "thing", "1.0", true],
    [unknown, "thing", "0.9", false],
  ];
  for (const [at, name, version, isReached] of cases)
    assert.equal(isAtLeast(at, name, version), isReached, `${at.purl} ${name} ${version}`);
});

test("a patch is of just one version, however it is written", () => {
  assert.ok(isSameVersion(npm, "lodash", "4.17.20"));
  assert.ok(!isSameVersion(npm, "lodash", "4.17.19"));
  assert.ok(isSameVersion(python, "ruamel.yaml", "0.18rc1"));
  assert.ok(isSameVersion(go, "stdlib", "go1.22.1"));
});
