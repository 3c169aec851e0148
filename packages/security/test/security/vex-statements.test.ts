import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { withFeeds } from "../../../server/src/admin/feeds.ts";
import { loadConfig } from "../../../kernel/src/config/index.ts";
import { cycloneDx, dsse, statementOf } from "../../../server/test/support/catalog/documents.ts";
import { pushArtifact } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { BAD, CLEAN, type GatedRepo, openGatedRepo, putGateRecords } from "../../../server/test/support/gated-repo.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// What VEX documents say that decides nothing is counted, and what can be done about a finding is shown with it.

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putGateRecords(platform);
});
after(() => platform.close());

interface Attachment {
  state: string;
  reason: string;
  kind: string;
  source: string;
  statements: number;
  statementsTotal: number;
  statementsUnmatched: number;
  unmatched: { vulnerabilities: string[]; product: string; reason: string }[];
}

async function attach(
  repo: GatedRepo,
  subject: string,
  type: string,
  content: string,
  count = 1,
): Promise<Attachment[]> {
  await pushArtifact(repo, { artifactType: type, subject, layers: [{ mediaType: type, content }] });
  const asked = `/registry/v2/repos/${repo.repo}/digests/${subject}/attachments?unmatched=true`;
  return await eventually(async () => {
    const found = ((await platform.ok("GET", asked))["attachments"] ?? []) as Attachment[];
    return found.length >= count && found.every(({ state }) => state !== "STATE_WAITING") && found;
  });
}

interface Finding {
  state: string;
  closeReason: string;
  remediations: { category: string; details: string; url: string; source: string; feed: string; document: string }[];
}

async function findingsUntil({ repo }: GatedRepo, digest: string, state: string): Promise<Finding[]> {
  return await eventually(async () => {
    const asked = `/vulnerabilities/v2/findings?repo=${repo}&digest=${digest}&state=${state}`;
    const found = (await platform.ok("GET", asked))["findings"] as Finding[];
    return found.length > 0 && found;
  });
}

const OPENVEX = "application/openvex+json";
const openVex = (...statements: object[]): string =>
  JSON.stringify({
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://acme.example/vex/1",
    author: "Acme",
    timestamp: "2026-11-01T08:00:00Z",
    version: 1,
    statements,
  });
const not = (product: string, vulnerability = "CVE-2026-1"): object => ({
  vulnerability: { name: vulnerability },
  products: [{ "@id": product }],
  status: "not_affected",
  justification: "component_not_present",
});
const csaf = (tree: object, vulnerability: object): string =>
  JSON.stringify({
    document: {
      category: "csaf_vex",
      csaf_version: "2.0",
      publisher: { name: "Acme" },
      tracking: { id: "ACME-1", current_release_date: "2026-11-01T08:00:00Z" },
    },
    product_tree: tree,
    vulnerabilities: [vulnerability],
  });
const BAD_PURL = "pkg:npm/bad@1.0.0";

test("statements about nothing in an image are counted and listed, with the reason", async () => {
  const repo = await openGatedRepo(platform);
  const digest = await repo.push("v1", BAD, CLEAN);
  const document = openVex(
    not(BAD_PURL),
    not("pkg:npm/clean@1.0.0", "CVE-2020-1"),
    not("pkg:npm/bad@3.0.0"),
    not("pkg:npm/absent"),
    not(`pkg:oci/other@sha256:${"0".repeat(64)}`),
    not("our product"),
  );
  const [found] = await attach(repo, digest, OPENVEX, document);
  assert.deepEqual([found?.statements, found?.statementsTotal, found?.statementsUnmatched], [4, 6, 4]);
  assert.deepEqual(
    found?.unmatched.map(({ product, reason }) => `${product}: ${reason}`),
    [
      "pkg:npm/bad@3.0.0: the image holds no such package",
      "pkg:npm/absent: the image holds no such package",
      `pkg:oci/other@sha256:${"0".repeat(64)}: it is about another image, or about a package of another product`,
      "our product: it names no package by a package URL, and not the image by its digest",
    ],
  );
  const short = await platform.ok("GET", `/registry/v2/repos/${repo.repo}/digests/${digest}/attachments`);
  assert.deepEqual((short["attachments"] as Attachment[])[0]?.unmatched, []);
});

test("a statement about an old package of npm, whose name has capitals, is about it", async () => {
  const repo = await openGatedRepo(platform);
  const digest = await repo.push("v1", ["JSONStream", "1.0.0"]);
  const [found] = await attach(repo, digest, OPENVEX, openVex(not("pkg:npm/jsonstream@1.0.0"), not("pkg:npm/json@1")));
  assert.deepEqual([found?.statementsTotal, found?.statementsUnmatched], [2, 1]);
  assert.deepEqual(
    found?.unmatched.map(({ product }) => product),
    ["pkg:npm/json@1"],
  );
});

test("what CSAF says can be done stands with the finding, whether it is open or closed", async () => {
  const repo = await openGatedRepo(platform);
  const digest = await repo.push("v1", BAD);
  const tree = {
    full_product_names: [{ product_id: "p", name: "bad", product_identification_helper: { purl: BAD_PURL } }],
    product_groups: [{ group_id: "g", product_ids: ["p", "other"] }],
  };
  const remediations = [
    { category: "no_fix_planned", details: "Out of support", group_ids: ["g"] },
    { category: "workaround", details: "Turn it off.", product_ids: ["p"], url: "https://acme.example/off" },
    { category: "workaround", details: "Not here.", product_ids: ["other"], url: "javascript:alert(1)" },
  ];
  const of = (state: string): string =>
    csaf(tree, { cve: "CVE-2026-1", product_status: { [state]: ["p"] }, remediations });
  await attach(repo, digest, "application/csaf+json", of("known_affected"));
  const [open] = await findingsUntil(repo, digest, "OPEN");
  assert.deepEqual(
    open?.remediations.map(({ category, details, url, document }) => [category, details, url, document]),
    [
      ["no_fix_planned", "Out of support", "", "ACME-1"],
      ["workaround", "Turn it off.", "https://acme.example/off", "ACME-1"],
    ],
  );
  await attach(repo, digest, "application/csaf+json", of("known_not_affected"), 2);
  const [closed] = await findingsUntil(repo, digest, "CLOSED");
  assert.deepEqual([closed?.closeReason, closed?.remediations.length], ["VEX_NOT_AFFECTED", 2]);
});

test("CycloneDX VEX without metadata, whose links to components are percent-encoded, closes the finding", async () => {
  const repo = await openGatedRepo(platform);
  const digest = await repo.push("v1", BAD);
  const document = JSON.stringify({
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    vulnerabilities: [
      {
        id: "CVE-2026-1",
        analysis: { state: "not_affected", justification: "code_not_present" },
        affects: [{ ref: `urn:cdx:3e671687-395b-41f5-a30f-a58921a69b79/1#${encodeURIComponent(BAD_PURL)}` }],
      },
    ],
  });
  const [found] = await attach(repo, digest, "application/vnd.cyclonedx.vex+json", document);
  assert.deepEqual([found?.state, found?.statements, found?.statementsUnmatched], ["STATE_READ", 1, 0]);
  const [closed] = await findingsUntil(repo, digest, "CLOSED");
  assert.equal(closed?.closeReason, "VEX_NOT_AFFECTED");
});

test("a link to a component of the attached SBOM is resolved by it, whichever of the two comes first", async () => {
  const repo = await openGatedRepo(platform);
  const digest = await repo.push("v1", BAD);
  const serial = "3e671687-395b-41f5-a30f-a58921a69b79";
  const vex = JSON.stringify({
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    vulnerabilities: [
      { id: "CVE-2026-1", analysis: { state: "not_affected" }, affects: [{ ref: `urn:cdx:${serial}/1#part%207` }] },
    ],
  });
  const [alone] = await attach(repo, digest, "application/vnd.cyclonedx.vex+json", vex);
  assert.deepEqual(
    [alone?.state, alone?.statementsUnmatched, alone?.unmatched[0]?.reason],
    ["STATE_READ", 1, "no SBOM that is attached has the component that it links to"],
  );
  await findingsUntil(repo, digest, "OPEN");
  const components = [{ type: "library", "bom-ref": "part 7", name: "bad", version: "1.0.0", purl: BAD_PURL }];
  const sbom = cycloneDx([], { serialNumber: `urn:uuid:${serial}`, version: 1, components });
  const found = await attach(repo, digest, "application/vnd.cyclonedx+json", sbom, 2);
  assert.deepEqual(
    found.map(({ statementsUnmatched }) => statementsUnmatched),
    [0, 0],
  );
  await findingsUntil(repo, digest, "CLOSED");
});

test("several attestations of one file, one a line, are documents of their own", async () => {
  const repo = await openGatedRepo(platform);
  const digest = await repo.push("v1", BAD);
  const lines = [
    dsse(statementOf("https://cyclonedx.org/bom", cycloneDx(["added"]), digest)),
    statementOf("https://openvex.dev/ns", openVex(not(BAD_PURL)), digest),
    dsse(statementOf("https://slsa.dev/provenance/v1", "{}", digest)),
    dsse(statementOf("https://openvex.dev/ns", openVex(not(BAD_PURL)), `sha256:${"1".repeat(64)}`)),
  ];
  const type = "application/vnd.dsse.envelope.v1+json";
  const found = await attach(repo, digest, type, `${lines.join("\n")}\r\n`, 3);
  assert.deepEqual(found.map(({ kind, state, source }) => [source.replace(/^.*\//, ""), kind, state]).sort(), [
    ["0", "cyclonedx", "STATE_READ"],
    ["1000000", "openvex", "STATE_READ"],
    ["3000000", "", "STATE_REJECTED"],
  ]);
  await findingsUntil(repo, digest, "CLOSED");
  const many = await attach(repo, digest, type, Array.from({ length: 60 }, () => lines[0]).join("\n"), 4);
  assert.match(many.find(({ reason }) => /more than 50/.test(reason))?.reason ?? "", /attestations, one a line/);
});

test("an import of statements says how many are about nothing here, and which", async () => {
  const repo = await openGatedRepo(platform);
  await repo.push("v1", BAD);
  const name = repo.name.slice(repo.name.lastIndexOf("/") + 1);
  const file = path.join(platform.settings["MOORAGE_DATA_DIR"] ?? "", "vendor.json");
  const about = [BAD_PURL, "pkg:npm/absent@1", `pkg:oci/${name}`, "pkg:oci/nowhere", "a thing"];
  writeFileSync(file, openVex(...about.map((product) => not(product))));
  const [imported] = await withFeeds(loadConfig(platform.settings), (feeds) =>
    feeds.importFile(file, { feed: "vendor", licence: "CC0-1.0" }),
  );
  assert.deepEqual([imported?.records, imported?.statements, imported?.statementsUnmatched], [1, 5, 3]);
  const feeds = (await platform.ok("GET", "/operations/v2/feeds?unmatched=true"))["feeds"] as {
    name: string;
    statements: string;
    statementsUnmatched: string;
    unmatchedStatements: { product: string; reason: string; record: string }[];
  }[];
  const feed = feeds.find((each) => each.name === "vendor");
  assert.deepEqual([feed?.statements, feed?.statementsUnmatched], ["5", "3"]);
  assert.deepEqual(
    feed?.unmatchedStatements.map(({ product, reason }) => `${product}: ${reason}`),
    [
      "pkg:npm/absent@1: no image here holds such a package",
      "pkg:oci/nowhere: no repo has the name of the image",
      "a thing: it names no package and no image by a package URL",
    ],
  );
});
