import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ADVISORIES } from "../../../server/test/support/advisories.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, plainRecord, putRecords } from "../../../server/test/support/feed-records.ts";
import { METADATA } from "../../../server/test/support/vulnerability-lists.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Records of distributions in OSV's form name their CVE in `upstream` (OSV schema 1.7), not in `aliases`.

const STATUS = ["zlib1g", "openssl", "curl"]
  .map((name) => `Package: ${name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.0-1\n`)
  .join("\n");
const LAYER = tarOf([
  { path: "etc/os-release", content: 'ID=debian\nVERSION_ID="12"\n' },
  { path: "var/lib/dpkg/status", content: STATUS },
]);
const CRITICAL = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";

/** As Debian publishes them at OSV. */
const debian = (name: string): object => ({
  schema_version: "1.7.0",
  affected: [
    {
      package: { ecosystem: "Debian:12", name, purl: `pkg:deb/debian/${name}?arch=source` },
      ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1.1-1" }] }],
      ecosystem_specific: { urgency: "not yet assigned" },
    },
  ],
});

interface Finding {
  vulnerability: string;
  aliases: string[];
  package: { name: string };
  severity: string;
  kev?: boolean;
  epss?: number;
  records: { id: string }[];
}

let platform: Platform;
let group = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  group = (await platform.group(platform.organization, { name: "team" })).uid;
  await platform.repo(group, { name: "app" });
  await putRecords(platform, "debian", "osv", [
    osvOf("DEBIAN-CVE-2026-70001", { upstream: ["CVE-2026-70001"], ...debian("zlib1g") }),
    osvOf("DEBIAN-CVE-2026-70002", { upstream: ["CVE-2026-70002"], ...debian("openssl") }),
    osvOf("DSA-9000-1", { upstream: ["CVE-2026-70003", "CVE-2026-70004"], ...debian("curl") }),
  ]);
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-aaaa-bbbb-cccc", {
      aliases: ["CVE-2026-70001"],
      severity: [{ type: "CVSS_V3", score: CRITICAL }],
    }),
  ]);
  await putRecords(platform, "kev", "kev", [plainRecord("CVE-2026-70001")]);
  await putRecords(platform, "epss", "epss", [plainRecord("CVE-2026-70001", { epss: 0.25, percentile: 0.5 })]);
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const name = `${platform.bootstrap.organization.name}/team/app`;
  await pushLayers({ url: platform.url, token, name }, "v1", [LAYER]);
  await findings("", 3);
});
after(() => platform.close());

/** The findings, as soon as there are so many. */
async function findings(query: string, wanted: number): Promise<Finding[]> {
  const list = async (): Promise<Finding[]> => {
    const answer = await platform.ok("GET", `/vulnerabilities/v2/findings?uidp.descendants_of=${group}&${query}`);
    return (answer["findings"] ?? []) as Finding[];
  };
  return await eventually(
    async () => {
      const found = await list();
      return found.length === wanted && found;
    },
    { instead: async () => (await list()).map(({ vulnerability }) => vulnerability) },
  );
}

test("a finding of a distribution's record is of the CVE that it names as upstream, with KEV, EPSS and CVSS", async () => {
  const [found] = await findings("vulnerabilities=CVE-2026-70001", 1);
  assert.ok(found !== undefined);
  assert.equal(found.vulnerability, "CVE-2026-70001");
  assert.deepEqual(found.aliases, ["GHSA-AAAA-BBBB-CCCC", "DEBIAN-CVE-2026-70001"].map(spelled));
  assert.equal(found.severity, "FINDING_SEVERITY_CRITICAL");
  assert.equal(found.kev, true);
  assert.equal(found.epss, 0.25);
  const [byRecord] = await findings("vulnerabilities=debian-cve-2026-70001", 1);
  assert.deepEqual(byRecord, found);
  const exploited = await findings("kev=true", 1);
  assert.deepEqual(exploited, [found]);
});

/** GHSA ids are written in lower case behind their prefix. */
const spelled = (id: string): string => (id.startsWith("GHSA-") ? `GHSA${id.slice(4).toLowerCase()}` : id);

test("a record of several upstream vulnerabilities is one by itself, found by each, and joins none of them", async () => {
  for (const id of ["CVE-2026-70003", "CVE-2026-70004", "DSA-9000-1"]) {
    const answer = await platform.ok("GET", `${METADATA}?id=${id}`);
    const [known] = answer["vulnerabilityMetadata"] as Json[];
    assert.equal(known?.["id"], id);
    assert.deepEqual(known?.["aliases"] ?? [], []);
    assert.deepEqual(sourcesOf(known), ["debian DSA-9000-1"]);
  }
  const all = await findings("", 3);
  for (const id of ["CVE-2026-70003", "cve-2026-70004", "dsa-9000-1"])
    assert.deepEqual(
      (await findings(`vulnerabilities=${id}`, 1)).map(({ vulnerability }) => vulnerability),
      ["DSA-9000-1"],
    );
  const own = all.find(({ package: { name } }) => name === "curl");
  assert.equal(own?.vulnerability, "DSA-9000-1");
});

/** The feeds and records that say something about it. */
function sourcesOf(known: Json | undefined): string[] {
  const sources = (known?.["sources"] ?? []) as { feed: string; record: string }[];
  return sources.map(({ feed, record }) => `${feed} ${record}`).sort();
}

test("what is known of the CVE names the distribution's record as a source, and not as another name of it", async () => {
  const answer = await platform.ok("GET", `${METADATA}?id=CVE-2026-70001`);
  const [known] = answer["vulnerabilityMetadata"] as Json[];
  assert.deepEqual(known?.["aliases"], ["GHSA-aaaa-bbbb-cccc"]);
  assert.deepEqual(sourcesOf(known), [
    "debian DEBIAN-CVE-2026-70001",
    "epss CVE-2026-70001",
    "github GHSA-aaaa-bbbb-cccc",
    "kev CVE-2026-70001",
  ]);
  const own = (await platform.ok("GET", `${METADATA}?id=DEBIAN-CVE-2026-70001`))["vulnerabilityMetadata"] as Json[];
  assert.deepEqual(own[0]?.["aliases"], ["CVE-2026-70001", "GHSA-aaaa-bbbb-cccc"]);
});

test("an advisory about the CVE decides on the finding of the distribution's record", async () => {
  await platform.ok("POST", `${ADVISORIES}/${group}`, {
    artifactName: "openssl",
    artifactType: "DEB",
    aliases: ["CVE-2026-70002"],
    events: [
      {
        reviewState: "APPROVED",
        falsePositiveDetermination: { type: "VULNERABLE_CODE_NOT_IN_EXECUTION_PATH" },
      },
    ],
  });
  const [closed] = await findings("state=CLOSED", 1);
  assert.equal(closed?.vulnerability, "CVE-2026-70002");
  assert.deepEqual(await findings("vulnerabilities=CVE-2026-70002", 0), []);
});
