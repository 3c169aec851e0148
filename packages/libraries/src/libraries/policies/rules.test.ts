import assert from "node:assert/strict";
import { test } from "node:test";
import { type EcosystemKey, ECOSYSTEMS } from "../ecosystems.ts";
import { isAgainst, LicensePatternError, type LicenseRules, requireLicensePattern } from "./licenses.ts";
import { packageName, purlRule, PurlRuleError } from "./purl-rules.ts";

function isNamed(ecosystem: EcosystemKey, purl: string, name: string, version: string): boolean {
  const rule = purlRule(ECOSYSTEMS[ecosystem], purl);
  return rule.matchesName(packageName(ECOSYSTEMS[ecosystem], name)) && rule.matchesVersion(version);
}

test("a package URL names packages, versions and ranges of them", () => {
  const rows: [EcosystemKey, string, string, string, boolean][] = [
    ["npm", "pkg:npm/left-pad", "left-pad", "1.3.0", true],
    ["npm", "pkg:npm/left-pad", "left-pads", "1.3.0", false],
    ["npm", "pkg:npm/left-pad", "@left/left-pad", "1.3.0", false],
    ["npm", "pkg:npm/left-pad@1.3.0", "left-pad", "1.3.0", true],
    ["npm", "pkg:npm/left-pad@1.3.0", "left-pad", "1.3.1", false],
    ["npm", "pkg:npm/%40acme/*", "@acme/ui", "1.0.0", true],
    ["npm", "pkg:npm/@acme/*", "@acme/ui", "1.0.0", true],
    ["npm", "pkg:npm/@acme/*", "@acme-evil/ui", "1.0.0", false],
    ["npm", "pkg:npm/@acme*/u*i", "@acme-more/u-i-i", "1.0.0", true],
    ["npm", "pkg:npm/a*a", "a", "1.0.0", false],
    ["npm", "pkg:npm/*", "@acme/ui", "1.0.0", false],
    ["npm", "pkg:npm/x?vers=vers:npm/>=1.0.0|<1.4.0", "x", "1.3.9", true],
    ["npm", "pkg:npm/x?vers=vers:npm/>=1.0.0|<1.4.0", "x", "1.4.0", false],
    ["npm", "pkg:npm/x?vers=vers%3Anpm%2F%3E%3D1.0.0", "x", "1.4.0", true],
    ["pypi", "pkg:pypi/My_Project.x@1.0", "my-project-x", "1.0.0", true],
    ["pypi", "pkg:pypi/my-project-x@1.0", "my-project-x", "1.0.1", false],
    ["maven", "pkg:maven/org.acme/app", "org.acme:app", "1.0", true],
    ["maven", "pkg:maven/org.acme.*/*", "org.acme.web:app", "1.0", true],
    ["maven", "pkg:maven/org.acme.*/*", "org.acmes:app", "1.0", false],
    ["maven", "pkg:maven/g/a?vers=vers:maven/<2.0", "g:a", "2.0-rc-1", true],
  ];
  for (const [ecosystem, purl, name, version, expected] of rows)
    assert.equal(isNamed(ecosystem, purl, name, version), expected, `${purl} ${name}@${version}`);
  assert.deepEqual(
    ["pkg:npm/x@1.0.0", "pkg:npm/x", "pkg:npm/x*@1.0.0", "pkg:npm/x?vers=vers:npm/1.0.0"].map(
      (purl) => purlRule(ECOSYSTEMS.npm, purl).isExact,
    ),
    [true, false, false, false],
  );
});

test("a package URL that names nothing of the ecosystem is rejected with the reason", () => {
  const rows: [EcosystemKey, string, RegExp][] = [
    ["npm", "left-pad", /must be a package URL such as/],
    ["npm", "pkg:pypi/x", /package URL of pkg:npm/],
    ["maven", "pkg:maven/x", /requires a "namespace"/],
    ["npm", "pkg:npm/x@1.*", /not \*/],
    ["npm", "pkg:npm/x@1.0.0?vers=vers:npm/1.0.0", /not both/],
    ["npm", "pkg:npm/x?vers=vers:pypi/1.0", /qualifier vers must be a range of vers:npm/],
    ["npm", "pkg:npm/x?arch=arm", /no qualifier but vers, not arch/],
    ["npm", "pkg:npm/x#lib", /no subpath/],
    ["npm", "pkg:npm/a*b*c*d*e*f", /at most 4 times/],
    ["npm", `pkg:npm/${"x".repeat(1000)}`, /at most 1000 characters/],
  ];
  for (const [ecosystem, purl, reason] of rows)
    assert.throws(
      () => purlRule(ECOSYSTEMS[ecosystem], purl),
      (error) => error instanceof PurlRuleError && reason.test(error.message),
      purl,
    );
});

test("licenses are judged by SPDX expressions, and free text by the license that is meant", () => {
  const rules = (given: Partial<LicenseRules>): LicenseRules => ({
    allowed: [],
    denied: [],
    blocksUnknown: false,
    ...given,
  });
  const permissive = rules({ allowed: ["MIT", "Apache-2.0", "BSD-*"] });
  const copyleft = rules({ denied: ["GPL-*", "AGPL-*"] });
  const rows: [string, LicenseRules, boolean][] = [
    ["MIT", permissive, false],
    ["mit", permissive, false],
    ["BSD-3-Clause", permissive, false],
    ["ISC", permissive, true],
    ["ISC OR MIT", permissive, false],
    ["ISC AND MIT", permissive, true],
    ["(MIT AND (GPL-3.0-only OR Apache-2.0))", permissive, false],
    ["Apache License, Version 2.0", permissive, false],
    ["GNU General Public License v3 (GPLv3)", permissive, true],
    ["GPL-2.0+", copyleft, true],
    ["GPL-2.0-only WITH Classpath-exception-2.0", copyleft, true],
    ["GPL-3.0-only OR MIT", copyleft, false],
    ["LGPL-3.0-only", copyleft, false],
    ["Example License", rules({ allowed: ["MPL-2.0"], blocksUnknown: true }), true],
    ["https://example.com/mpl", rules({ allowed: ["MPL-2.0"], blocksUnknown: true }), true],
    ["GNU GPLv3", copyleft, true],
    ["UNLICENSED", permissive, false],
    ["UNLICENSED", rules({ allowed: ["Unlicense"], blocksUnknown: true }), true],
    ["SEE LICENSE IN LICENSE", rules({ blocksUnknown: true }), true],
    ["", rules({ blocksUnknown: true }), true],
    ["", permissive, false],
    ["GPL-3.0-only WITH GCC-exception-3.1", rules({ allowed: ["GPL-3.0-only WITH GCC-exception-3.1"] }), false],
    ["GPL-3.0-only", rules({ allowed: ["GPL-3.0-only WITH GCC-exception-3.1"] }), true],
    [`${"(".repeat(200)}MIT${")".repeat(200)}`, rules({ blocksUnknown: true }), true],
  ];
  for (const [license, given, expected] of rows) assert.equal(isAgainst(license, given), expected, license);
  for (const pattern of ["", "GPL 3", "*GPL", "GPL-*-only", "MIT OR ISC"])
    assert.throws(() => requireLicensePattern(pattern), LicensePatternError, pattern);
});
