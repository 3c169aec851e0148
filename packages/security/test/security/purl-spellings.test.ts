import assert from "node:assert/strict";
import { test } from "node:test";
import { ECOSYSTEMS } from "../../../libraries/src/libraries/ecosystems.ts";
import { packageName, purlRule, PurlRuleError } from "../../../libraries/src/libraries/policies/purl-rules.ts";
import { normalPurl, parsedPurl, purlMatcher } from "../../../kernel/src/lib/purls/index.ts";
import { componentOf } from "../../src/security/attached/components.ts";
import { cycloneDxPackages } from "../../src/security/attached/cyclonedx.ts";
import { type AttachedStatement, findStatements } from "../../src/security/attached/statements.ts";
import { vexOf } from "../../src/security/attached/vex-of.ts";
import { packageRow, type PackageRow } from "../../src/security/catalog/rows.ts";
import { packagesNamed } from "../../src/security/packages/candidates.ts";
import { componentOf as keyedComponent } from "../../src/security/matching/image-component.ts";
import { lookupsOf } from "../../src/security/matching/package-keys.ts";
import { productKeysOf, targetIn, trustedIn } from "../../src/security/vex/trust.ts";
import { isAbout, statedPackage } from "../../src/security/vex/applies.ts";
import { openFeedInstallation } from "../../../server/test/support/feed-installation.ts";
import { addImage, openMatching } from "../../../server/test/support/matching.ts";
import { imageOf, SPELLED, type SpelledPackage } from "../../../server/test/support/purl-spellings.ts";

// How others write the packages that our own reading finds: each row is read in an SBOM, in a statement, in a filter
// and in a policy.

const DIGEST = `sha256:${"a".repeat(64)}`;

const stored = ({ purl, name, version, source }: SpelledPackage): PackageRow =>
  packageRow({
    purl,
    name,
    version,
    licence: "",
    sourceName: source?.name ?? "",
    sourceVersion: source?.version ?? "",
  });

/** The writings that mean the package, and those that do not. */
function* writings(): Generator<{ spelled: SpelledPackage; written: string; isMeant: boolean }> {
  for (const spelled of SPELLED) {
    const { purl, sbom, broader = [], others } = spelled;
    for (const written of [purl, ...sbom, ...broader]) yield { spelled, written, isMeant: true };
    for (const written of others) yield { spelled, written, isMeant: false };
  }
}

test("a package URL means a package however it is written, and nothing that looks alike", () => {
  for (const { spelled, written, isMeant } of writings())
    assert.equal(purlMatcher(written)?.(spelled), isMeant, `${written} for ${spelled.purl}`);
});

test("in an SBOM every writing of a build is the package that our own reading finds", () => {
  for (const spelled of SPELLED)
    for (const written of spelled.sbom) {
      const document = { bomFormat: "CycloneDX", specVersion: "1.6", components: [{ type: "library", purl: written }] };
      const [stated] = cycloneDxPackages(document).packages;
      assert.ok(stated);
      const found = componentOf(stated, "cyclonedx", imageOf(spelled));
      assert.equal(found?.purl, spelled.purl, written);
      assert.equal(found.version, spelled.version, written);
      // It is compared with the same records. What it is built from is said by some documents alone.
      const source = { sourceName: spelled.source?.name ?? "", sourceVersion: spelled.source?.version ?? "" };
      assert.deepEqual(keysOf(packageRow({ ...found, ...source })), keysOf(stored(spelled)), written);
      const read = parsedPurl(spelled.purl);
      assert.equal(read && normalPurl(read, undefined).purl, spelled.purl, "it is in the normal form");
    }
});

const keysOf = (row: PackageRow): unknown => {
  const component = keyedComponent(row);
  assert.ok(component);
  return lookupsOf(component);
};

const openVex = (product: object): object => ({
  "@context": "https://openvex.dev/ns/v0.2.0",
  "@id": "https://acme.example/vex/1",
  author: "Acme",
  timestamp: "2026-11-01T08:00:00Z",
  statements: [
    {
      vulnerability: { name: "CVE-2026-1" },
      products: [product],
      status: "not_affected",
      justification: "component_not_present",
    },
  ],
});

test("an attached statement is about what its product means, in itself and in the image", async () => {
  for (const { spelled, written, isMeant } of writings())
    for (const product of [{ "@id": written }, { "@id": DIGEST, subcomponents: [{ "@id": written }] }]) {
      const statements = vexOf("openvex", openVex(product), DIGEST).statements as unknown as AttachedStatement[];
      const find = await findStatements(statements, undefined);
      const found = find({ ...statedPackage(stored(spelled)), ids: ["CVE-2026-1"] }, 10);
      assert.equal(found.length, isMeant ? 1 : 0, `${written} for ${spelled.purl}`);
    }
});

test("a statement of a feed is found by the keys of the packages that it means", () => {
  for (const { spelled, written, isMeant } of writings()) {
    const [said] = trustedIn("openvex", JSON.stringify(openVex({ "@id": written })), [
      spelled.purl.slice(0, spelled.purl.indexOf("/") + 1),
    ]);
    const held = statedPackage(stored(spelled));
    const found =
      said && productKeysOf(held).includes(said.key) ? targetIn(said, { path: "a/b", digest: DIGEST }) : undefined;
    assert.equal(found !== undefined && isAbout(found.target, held), isMeant, `${written} for ${spelled.purl}`);
  }
});

test("a filter of findings finds the packages that it means", async (t) => {
  const installation = await openFeedInstallation(t);
  const { db } = installation;
  const { match } = await openMatching(t, installation);
  const all = SPELLED.map(({ source, ...each }) => ({
    ...each,
    sourceName: source?.name ?? "",
    sourceVersion: source?.version ?? "",
  }));
  await addImage(db, DIGEST, all);
  await match(1_000);
  for (const { spelled, written, isMeant } of writings()) {
    const found = (await packagesNamed(db, [written])).map(({ purl }) => purl);
    assert.equal(found.includes(spelled.purl), isMeant, `${written} for ${spelled.purl}`);
  }
});

test("a policy is about the versions that its package URL means", () => {
  let count = 0;
  for (const { spelled, written, isMeant } of writings()) {
    const type = /^pkg:(npm|pypi|maven)\//.exec(spelled.purl)?.[1] as "npm" | "pypi" | "maven" | undefined;
    if (type === undefined) continue;
    count += 1;
    assert.equal(isBlocked(type, written, spelled), isMeant, `${written} for ${spelled.purl}`);
  }
  assert.ok(count > 0);
});

function isBlocked(type: "npm" | "pypi" | "maven", written: string, { name, version }: SpelledPackage): boolean {
  try {
    const ecosystem = ECOSYSTEMS[type];
    const rule = purlRule(ecosystem, written);
    return rule.matchesName(packageName(ecosystem, name)) && rule.matchesVersion(version);
  } catch (error) {
    // A policy is about artifacts as a whole: what it cannot keep apart is rejected.
    if (error instanceof PurlRuleError) return false;
    throw error;
  }
}
