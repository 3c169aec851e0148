import assert from "node:assert/strict";
import { test } from "node:test";
import { licenseOf, packageKind } from "../npm/upstream-document.ts";
import { isAgainst, licenseJudge, usualLicense } from "./licenses.ts";

const NONE = { allowed: [], denied: [], blocksUnknown: false };

test("rules are matched by whole ids and by beginnings, whatever their case", () => {
  const isDenied = licenseJudge({ ...NONE, denied: ["GPL-*", "mit"] });
  const rows: [string, boolean][] = [
    ["GPL-2.0-only", true],
    ["gpl-3.0-or-later", true],
    ["MIT", true],
    ["MIT-0", false],
    ["MIT OR Apache-2.0", false],
    ["MIT AND Apache-2.0", true],
  ];
  for (const [license, expected] of rows) assert.equal(isDenied(license), expected, license);
  assert.equal(isAgainst("Apache-2.0", { ...NONE, allowed: ["*"] }), false);
});

test("free text that is longer than the name of any license is not guessed at", () => {
  assert.equal(usualLicense("Apache License, Version 2.0"), "Apache-2.0");
  assert.equal(usualLicense(`Apache License, Version 2.0 ${"x".repeat(120)}`), undefined);
});

test("a manifest or a package with more licenses than any has is of an unknown license", async () => {
  const names = Array.from({ length: 21 }, (_, at) => ({ type: at === 0 ? "MIT" : `MIT-${at}` }));
  const ofMany = licenseOf({ licenses: names }) ?? "";
  assert.equal(licenseOf({ licenses: names.slice(0, 1) }), "MIT");
  assert.ok(isAgainst(ofMany, { ...NONE, blocksUnknown: true }) && !isAgainst(ofMany, { ...NONE, denied: ["MIT"] }));
  const versions = (count: number): Buffer => {
    const dist = { tarball: "http://x", shasum: "0".repeat(40) };
    const all = Array.from({ length: count }, (_, at) => [
      `1.0.${at}`,
      { name: "x", version: `1.0.${at}`, license: `license ${at}`, dist },
    ]);
    return Buffer.from(JSON.stringify({ name: "x", versions: Object.fromEntries(all) as object }));
  };
  const context = { headers: {}, url: "", nowMs: 0, previous: undefined };
  for (const [count, expected] of [
    [500, undefined],
    [501, true],
  ] as const) {
    const offer = await packageKind.parse(versions(count), { name: "x" }, context);
    assert.equal(offer.versions["1.0.0"]?.hasManyLicenses, expected);
  }
});
