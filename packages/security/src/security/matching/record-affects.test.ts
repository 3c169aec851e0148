import assert from "node:assert/strict";
import { test } from "node:test";
import { type ImageComponent, lookupsOf } from "./package-keys.ts";
import { type Hit, hitOf, recordAffects } from "./record-affects.ts";

const hit = (format: string, body: object, component: ImageComponent): Hit | undefined =>
  hitOf(recordAffects(format, JSON.stringify(body)), lookupsOf(component));

const bookworm = (version: string): ImageComponent => ({
  type: "deb",
  name: "libssl3",
  version,
  sourceName: "openssl",
  distribution: { id: "debian", version: "12" },
});

test("an OSV record affects by each of its entries, and what fixes it are the fixes of those that do", () => {
  const entry = (ecosystem: string, name: string, fixed: string): object => ({
    package: { ecosystem, name },
    ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed }] }],
  });
  const record = { affected: [entry("npm", "a", "2.0.0"), entry("npm", "a", "1.5.0"), entry("Debian:12", "a", "3")] };
  const npm = (version: string): ImageComponent => ({ type: "npm", name: "a", version });
  assert.deepEqual(hit("osv", record, npm("1.0.0")), {
    state: "FIXED",
    fixed: ["2.0.0", "1.5.0"],
    lastAffected: [],
  });
  assert.deepEqual(hit("osv", record, npm("1.5.0"))?.fixed, ["2.0.0"]);
  assert.equal(hit("osv", record, npm("2.0.0")), undefined);
  assert.equal(hit("osv", record, { ...npm("1.0.0"), type: "pypi" }), undefined);
  const open = { affected: [{ package: { ecosystem: "npm", name: "a" }, versions: ["1.0.0"] }] };
  assert.deepEqual(hit("osv", open, npm("1.0.0")), { state: "NOT_FIXED", fixed: [], lastAffected: [] });
  for (const nothing of [{}, { affected: null }, { affected: [{ versions: ["1.0.0"] }] }])
    assert.equal(hit("osv", nothing, npm("1.0.0")), undefined);
});

test("Alpine's fixes: older versions are affected, and a fix of 0 says that none is", () => {
  const record = (...fixed: string[]): object => ({
    release: "v3.20",
    repository: "main",
    package: "openssl",
    id: "CVE-1",
    fixed,
  });
  const apk = (version: string, release = "3.20.1"): ImageComponent => ({
    type: "apk",
    name: "libssl3",
    version,
    sourceName: "openssl",
    distribution: { id: "alpine", version: release },
  });
  assert.deepEqual(hit("alpine-secdb", record("3.1.5-r1"), apk("3.1.5-r0"))?.fixed, ["3.1.5-r1"]);
  assert.equal(hit("alpine-secdb", record("3.1.5-r1"), apk("3.1.5-r1")), undefined);
  assert.equal(hit("alpine-secdb", record("3.1.5-r1"), apk("3.1.5-r0", "3.19.1")), undefined);
  assert.equal(hit("alpine-secdb", record("0"), apk("3.1.5-r0")), undefined);
  assert.equal(hit("alpine-secdb", record("0", "3.1.5-r1"), apk("3.1.5-r0"))?.state, "FIXED");
});

test("Debian's tracker: fixed, open, ignored, never affected, undetermined", () => {
  const state = (bookwormState: object): object => ({
    package: "openssl",
    id: "CVE-1",
    releases: { bookworm: bookwormState, sid: { status: "open" }, bullseye: { status: "open" } },
  });
  const of = (given: object, version = "3.0.11-1"): Hit | undefined =>
    hit("debian-tracker", state(given), bookworm(version));
  const fixed = { status: "resolved", fixed_version: "3.0.12-1" };
  assert.deepEqual(of(fixed), { state: "FIXED", fixed: ["3.0.12-1"], lastAffected: [] });
  assert.equal(of(fixed, "3.0.12-1"), undefined);
  assert.equal(of({ status: "open" })?.state, "NOT_FIXED");
  assert.equal(of({ status: "open", nodsa_reason: "ignored" })?.state, "WONT_FIX");
  assert.equal(of({ status: "open", nodsa_reason: "postponed" })?.state, "NOT_FIXED");
  assert.equal(of({ status: "resolved", fixed_version: "0" }), undefined);
  assert.equal(of({ status: "undetermined" }), undefined);
});

test("formats that say nothing about packages affect none", () => {
  for (const format of ["kev", "epss", "openvex", "endoflife", ""])
    assert.equal(recordAffects(format, '{"affected": [{"package": {"ecosystem": "npm", "name": "a"}}]}').size, 0);
});
