import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Registry, Vulnerabilities } from "@moorage/api/v1/registry";
import { pushIndex } from "../support/catalog/push.ts";
import { osvOf, putRecords } from "../support/feed-records.ts";
import { before as affectedBefore } from "../support/matching.ts";
import { newAdvisory } from "../support/advisories.ts";
import { addScan, addScanner } from "../support/scan-rows.ts";
import { type Item, type V1, v1Of } from "../support/v1/calls.ts";
import { type TaggedRepo, taggedRepo } from "../support/vuln-reports.ts";

const { getRawVulnReport, listCumulativeVulnCountReports, listVulnCountReports, listVulnReports } =
  Vulnerabilities.method;
const { getVulnReport } = Registry.method;
const CRITICAL = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
const MEDIUM = "CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:L/A:N";
const LOW = "CVSS:3.1/AV:P/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N";
const NONE = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N";
const ADVISORY = "https://example.com/advisories/GHSA-2345-6789-cfgh";
const PAGE = "https://example.com/page";

const anyVersion = (name: string): object => ({
  affected: [{ package: { ecosystem: "npm", name }, ranges: [{ type: "SEMVER", events: [{ introduced: "0" }] }] }],
});
const rated = (score: string): object => ({ severity: [{ type: "CVSS_V3", score }] });
const RECORDS = [
  osvOf("CVE-2026-1", {
    aliases: ["GHSA-2345-6789-cfgh"],
    summary: "It is bad.",
    details: "It is *very* bad.",
    references: [
      { type: "ADVISORY", url: ADVISORY },
      { type: "WEB", url: PAGE },
    ],
    ...affectedBefore("left-pad", "2.0.0"),
    ...rated(CRITICAL),
  }),
  osvOf("CVE-2026-2", { ...anyVersion("mild"), ...rated(LOW) }),
];
const VULNERABLE = {
  id: "CVE-2026-1",
  aliases: ["GHSA-2345-6789-cfgh"],
  purls: ["pkg:npm/left-pad@1.0.0"],
  description: "It is bad.",
  details: "It is *very* bad.",
  severity: "CRITICAL",
  cvss: [{ score: "9.8", version: "3.1" }],
  fix: { versions: ["2.0.0"], state: "FIXED" },
  relatedUrls: [ADVISORY, PAGE],
  locations: ["app/node_modules/left-pad/package.json"],
};

describe("vulnerability reports by v1", () => {
  let repo: TaggedRepo;
  let v1: V1;
  before(async () => {
    repo = await taggedRepo();
    v1 = await v1Of(repo.platform);
    await putRecords(repo.platform, "osv", "osv", RECORDS);
  });
  after(() => repo.platform.close());

  const idsIn = ({ vulnerabilities = [] }: Item): string[] => (vulnerabilities as { id: string }[]).map(({ id }) => id);

  test("a report has each vulnerability with its packages, fixes, scores and pages", async () => {
    const digest = await repo.image("left-pad@1.0.0", "mild@1.0.0", "clean@1.0.0");
    await repo.move(digest, "reported");
    const [own, ...others] = await v1.items(listVulnReports, { repoId: repo.uid, tag: "reported" });
    assert.deepEqual(others, []);
    assert.equal(own?.["digest"], digest);
    assert.equal((own["scanner"] as Item)["version"], "moorage");
    assert.deepEqual((own["vulnerabilities"] as Item[])[0], VULNERABLE);
    const mild = (own["vulnerabilities"] as Item[])[1];
    assert.deepEqual([mild?.["id"], mild?.["severity"], mild?.["fix"]], ["CVE-2026-2", "LOW", { state: "NOT_FIXED" }]);
    const report = await v1.read(getVulnReport, { repoId: repo.uid, digest });
    const [match, second] = report["vulnerabilityMatches"] as [Item, Item];
    const { id: packageId, ...held } = match["pkg"] as Item;
    assert.deepEqual(held, { name: "left-pad", version: "1.0.0", purl: "pkg:npm/left-pad@1.0.0" });
    assert.ok(packageId);
    assert.deepEqual(match["vulnerability"], {
      id: "CVE-2026-1",
      displayId: "CVE-2026-1",
      description: "It is *very* bad.",
      severity: "CRITICAL",
      source: "osv",
      cvss: VULNERABLE.cvss,
      relatedUrls: VULNERABLE.relatedUrls,
      advisories: { "GHSA-2345-6789-cfgh": ADVISORY },
      relatedVulnerabilities: [{ id: "GHSA-2345-6789-cfgh" }],
    });
    assert.deepEqual([match["fix"], second["fix"]], [VULNERABLE.fix, { state: "NOT_FIXED" }]);
    assert.deepEqual([report["id"], report["scanner"]], [digest, { name: "moorage" }]);
    assert.deepEqual(report["reportGeneration"], own["createdAt"]);
    assert.ok(report["lastSeen"]);
    const raw = JSON.parse(Buffer.from(String(report["rawVulnReport"]), "base64").toString()) as Item;
    assert.deepEqual(idsIn(raw), ["CVE-2026-1", "CVE-2026-2"]);
  });

  test("filters choose images and reports; an index is reported as a whole", async () => {
    const [one, two] = [await repo.image("left-pad@1.0.0"), await repo.image("mild@1.0.0")];
    const platformOf = (architecture: string): { os: string; architecture: string } => ({ os: "linux", architecture });
    const index = await pushIndex(await repo.target(), "both", [
      [one, platformOf("amd64")],
      [two, platformOf("arm64")],
    ]);
    await repo.settled();
    const digests = async (filter: object): Promise<unknown[]> =>
      (await v1.items(listVulnReports, { repoId: repo.uid, ...filter })).map((each) => each["digest"]);
    assert.deepEqual(await digests({ digest: one }), [one]);
    assert.deepEqual(await digests({ tag: "both" }), [index]);
    assert.deepEqual(await digests({ tag: "both", digest: index }), [index]);
    assert.deepEqual(await digests({ tag: "both", digest: one }), []);
    assert.deepEqual(await digests({ tag: "none" }), []);
    const [both] = await v1.items(listVulnReports, { repoId: repo.uid, tag: "both" });
    assert.deepEqual(idsIn(both ?? {}), ["CVE-2026-1", "CVE-2026-2"]);
    const all = await digests({});
    assert.ok(all.includes(index) && new Set(all).size === all.length);
    assert.deepEqual(
      await v1.items(listVulnReports, { digest: one }),
      await v1.items(listVulnReports, { repoId: repo.uid, digest: one }),
    );
    assert.deepEqual(await v1.items(listVulnReports, { repoId: `${repo.uid}0` }), []);
    const created = String((await v1.items(listVulnReports, { digest: one }))[0]?.["createdAt"]);
    assert.deepEqual(await digests({ digest: one, createdSince: created }), [one]);
    assert.deepEqual(await digests({ digest: one, createdSince: new Date(Date.parse(created) + 1).toISOString() }), []);
    assert.deepEqual(await v1.refused(listVulnReports, { digest: "sha256:1", tag: "-" }), [400, "digest", "tag"]);
    assert.deepEqual(await v1.refused(getRawVulnReport, {}), [400, "digest"]);
  });

  test("an adapter's reports stand beside ours, under the name that v1 has for the scanner", async () => {
    const digest = await repo.image("left-pad@1.0.0");
    const { platform, uid } = repo;
    const scanner = await addScanner(platform, platform.organization);
    const other = await addScanner(platform, platform.organization);
    const reportMs = platform.clock.nowMs();
    await addScan(platform, uid, scanner, digest, {
      software: { name: "Aqua Trivy", vendor: "Aqua", version: "0.70" },
      reportMs,
      vulnerabilities: [
        {
          id: "CVE-9",
          package: "a",
          version: "1",
          fix_version: "2",
          severity: "High",
          links: [PAGE],
          preferred_cvss: { score_v3: 7.5 },
        },
        { id: "CVE-9", package: "b", version: "1", fix_version: "3", severity: "Critical", description: "Bad." },
        { id: "CVE-8", package: "b", version: "1", severity: "Negligible" },
      ],
    });
    await addScan(platform, uid, other, digest, {
      software: { name: "Other", vendor: "", version: "1" },
      reportMs: reportMs - 1,
    });
    const createdAt = new Date(reportMs).toISOString();
    const found = await v1.items(listVulnReports, { repoId: uid, digest });
    assert.deepEqual(
      found.map((each) => {
        const { name, version } = each["scanner"] as Item;
        return [name, version];
      }),
      [
        [undefined, "moorage"],
        ["TRIVY", "0.70"],
        [undefined, "Other 1"],
      ],
    );
    const trivy = await v1.items(listVulnReports, { repoId: uid, digest, scanner: { name: "TRIVY" } });
    assert.deepEqual(trivy, [
      {
        digest,
        scanner: { name: "TRIVY", version: "0.70" },
        createdAt: String(trivy[0]?.["createdAt"]),
        vulnerabilities: [
          {
            id: "CVE-9",
            description: "Bad.",
            severity: "CRITICAL",
            cvss: [{ score: "7.5", version: "3" }],
            fix: { versions: ["3", "2"], state: "FIXED" },
            relatedUrls: [PAGE],
          },
          { id: "CVE-8", severity: "NEGLIGIBLE", fix: { state: "NOT_FIXED" } },
        ],
      },
    ]);
    assert.equal(Date.parse(String(trivy[0]?.["createdAt"])), reportMs);
    assert.equal((await v1.items(listVulnReports, { digest, scanner: { version: "Other 1" } })).length, 1);
    assert.deepEqual(await v1.items(listVulnReports, { digest, scanner: { name: "GRYPE" } }), []);
    const raw = await v1.read(getRawVulnReport, { digest, scanner: "TRIVY" });
    assert.deepEqual(idsIn(JSON.parse(String(raw["rawReport"])) as Item), ["CVE-9", "CVE-9", "CVE-8"]);
    assert.deepEqual(await v1.read(getRawVulnReport, { digest, scanner: "TRIVY", createdAt }), raw);
    const earlier = new Date(reportMs - 1).toISOString();
    assert.deepEqual(await v1.read(getRawVulnReport, { digest, scanner: "TRIVY", createdAt: earlier }), {});
    assert.deepEqual(await v1.read(getRawVulnReport, { digest, scanner: "GRYPE" }), {});
  });

  test("a report as of a time, and counts of days, have what was known then", async () => {
    const { platform, path } = repo;
    const [old, fixed] = [
      await repo.image("left-pad@1.0.0", "mild@1.0.0"),
      await repo.image("left-pad@2.1.0", "mild@1.0.0", "plain@1.0.0", "nothing@1.0.0"),
    ];
    const first = repo.nextDay();
    await repo.move(old, "counted");
    await repo.move(old, "other");
    const then = new Date(platform.clock.nowMs()).toISOString();
    const second = repo.nextDay();
    const third = repo.nextDay();
    await putRecords(platform, "more", "osv", [
      osvOf("CVE-2026-5", { ...anyVersion("mild"), ...rated(MEDIUM) }),
      osvOf("CVE-2026-6", anyVersion("plain")),
      osvOf("CVE-2026-7", { ...anyVersion("nothing"), ...rated(NONE) }),
    ]);
    await repo.settled();
    const fourth = repo.nextDay();
    await repo.move(fixed, "counted");
    const before = await v1.read(getRawVulnReport, { digest: old, createdAt: then });
    const now = await v1.read(getRawVulnReport, { digest: old });
    assert.deepEqual(idsIn(JSON.parse(String(before["rawReport"])) as Item), ["CVE-2026-1", "CVE-2026-2"]);
    assert.deepEqual(idsIn(JSON.parse(String(now["rawReport"])) as Item), ["CVE-2026-1", "CVE-2026-2", "CVE-2026-5"]);
    assert.ok(String(before["createdAt"]) < String(now["createdAt"]));

    const range = { from: `${first}T12:00:00Z`, to: `${fourth}T00:00:00Z` };
    const counts = async (method: typeof listVulnCountReports, filter: object): Promise<string[]> =>
      (await v1.items(method, { ...range, ...filter })).map((each) =>
        [String(each["date"]).slice(0, 10), String(each["tag"]), ...((each["cveIds"] ?? []) as string[])].join(" "),
      );
    const asked = { repo: path, tag: "counted" };
    const [a, b, c, d] = [
      `${first} counted CVE-2026-1 CVE-2026-2`,
      `${second} counted CVE-2026-1 CVE-2026-2`,
      `${third} counted CVE-2026-1 CVE-2026-2 CVE-2026-5`,
      `${fourth} counted CVE-2026-2 CVE-2026-5 CVE-2026-6 CVE-2026-7`,
    ];
    assert.deepEqual(await counts(listVulnCountReports, asked), [a, b, c, d]);
    assert.deepEqual(await counts(listVulnCountReports, { ...asked, from: `${third}T23:00:00Z` }), [c, d]);
    assert.deepEqual(await counts(listVulnCountReports, { ...asked, to: `${second}T00:00:00Z` }), [a, b]);
    const cumulative = `${fourth} counted CVE-2026-1 CVE-2026-2 CVE-2026-5 CVE-2026-6 CVE-2026-7`;
    assert.deepEqual(await counts(listCumulativeVulnCountReports, asked), [a, b, c, cumulative]);
    assert.deepEqual(await counts(listCumulativeVulnCountReports, { ...asked, from: `${fourth}T00:00:00Z` }), [d]);
    // The name alone will do while one repo alone has it that the caller sees.
    const name = path.slice(path.lastIndexOf("/") + 1);
    const byName = { repo: name, tag: "counted" };
    assert.deepEqual(await counts(listVulnCountReports, byName), [a, b, c, d]);
    assert.deepEqual(await counts(listCumulativeVulnCountReports, { ...byName, from: `${fourth}T00:00:00Z` }), [d]);
    assert.deepEqual(await counts(listVulnCountReports, { references: [byName] }), [a, b, c, d]);
    assert.deepEqual(await counts(listVulnCountReports, { repo: "nothing", tag: "counted" }), []);
    assert.equal((await v1.items(listVulnCountReports, { ...range, ...byName }))[0]?.["repo"], name);
    assert.deepEqual(await v1.items(listVulnCountReports, { ...range, ...byName }, "stranger"), []);
    const { uid: team } = await platform.group(platform.organization);
    const { uid: twin } = await platform.repo(team, { name });
    assert.deepEqual(await v1.refused(listVulnCountReports, { ...range, ...byName }), [400, "repo"]);
    const ambiguous = { references: [{ repo: path, tag: "counted" }, byName] };
    assert.deepEqual(await v1.refused(listCumulativeVulnCountReports, ambiguous), [400, "references[1].repo"]);
    assert.deepEqual(await v1.items(listVulnCountReports, { ...range, ...byName }, "stranger"), []);
    await platform.ok("DELETE", `/registry/v2/repos/${twin}`);
    // References win over repo and tag; what is not there is left out.
    const references = [
      { repo: path, tag: "other" },
      { repo: path, tag: "counted" },
      { repo: path, tag: "never" },
      { repo: `${path}-none`, tag: "counted" },
    ];
    assert.deepEqual(
      (await counts(listVulnCountReports, { repo: "ignored", tag: "ignored", references, to: range.from })).sort(),
      [a, `${first} other CVE-2026-1 CVE-2026-2`],
    );
    const [last] = await v1.items(listVulnCountReports, { ...asked, from: `${fourth}T00:00:00Z` });
    assert.ok(Number(last?.["sizeBytes"]) > 0);
    assert.deepEqual(
      { ...last, sizeBytes: undefined, date: undefined, cveIds: undefined },
      {
        repo: path,
        tag: "counted",
        date: undefined,
        sizeBytes: undefined,
        cveIds: undefined,
        vulnCounts: [
          { severity: "MEDIUM", count: 1 },
          { severity: "LOW", count: 1 },
          { severity: "NEGLIGIBLE", count: 1 },
          { count: 1 },
        ],
        lowCveIds: ["CVE-2026-2"],
        medCveIds: ["CVE-2026-5"],
        negligibleCveIds: ["CVE-2026-7"],
        unknownCveIds: ["CVE-2026-6"],
        state: "READ",
      },
    );
    const critical = (
      await v1.items(listVulnCountReports, { ...asked, from: `${third}T00:00:00Z`, to: `${third}T00:00:00Z` })
    )[0];
    assert.deepEqual(critical?.["critCveIds"], ["CVE-2026-1"]);
    // An advisory closes the finding from its day on; a day without a change of the image is read again for it.
    const fifth = repo.nextDay();
    await newAdvisory(platform, platform.organization, {
      artifactName: path,
      artifactType: "OCI_IMAGE",
      componentName: "mild",
      aliases: ["CVE-2026-2"],
      events: [{ falsePositiveDetermination: { type: "TYPE_INLINE_MITIGATIONS_EXIST" }, reviewState: "APPROVED" }],
    });
    const sixth = repo.nextDay();
    const advised = (day: string): string => `${day} counted CVE-2026-5 CVE-2026-6 CVE-2026-7`;
    assert.deepEqual(await counts(listVulnCountReports, { ...asked, to: `${sixth}T00:00:00Z` }), [
      a,
      b,
      c,
      d,
      advised(fifth),
      advised(sixth),
    ]);
  });

  test("bounds and errors name the fields of v1", async () => {
    const asked = { repo: repo.path, tag: "counted" };
    for (const method of [listVulnCountReports, listCumulativeVulnCountReports]) {
      assert.deepEqual(await v1.refused(method, {}), [400, "repo"]);
      assert.deepEqual(
        await v1.refused(method, { ...asked, from: "2026-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z" }),
        [400, "to"],
      );
      assert.deepEqual(
        await v1.refused(method, { ...asked, from: "2024-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z" }),
        [400, "from"],
      );
      const references = Array.from({ length: 101 }, (_, at) => ({ repo: repo.path, tag: `t${at}` }));
      assert.deepEqual(await v1.refused(method, { references }), [400, "references"]);
      assert.deepEqual(await v1.refused(method, { references: [{ repo: "", tag: "-" }] }), [
        400,
        "references[0].repo",
        "references[0].tag",
      ]);
    }
  });

  test("who may not list reports gets none", async () => {
    const digest = await repo.image("left-pad@1.0.0");
    await repo.move(digest, "seen");
    const lists: [Parameters<V1["read"]>[0], Parameters<V1["read"]>[1]][] = [
      [listVulnReports, { repoId: repo.uid, digest }],
      [getRawVulnReport, { digest }],
      [listVulnCountReports, { repo: repo.path, tag: "seen" }],
      [listCumulativeVulnCountReports, { repo: repo.path, tag: "seen" }],
    ];
    for (const [method, request] of lists) {
      assert.deepEqual(await v1.refused(method, request, "none"), [401]);
      assert.deepEqual(await v1.read(method, request, "stranger"), {});
      assert.deepEqual(await v1.read(method, request, "viewer"), await v1.read(method, request));
    }
    const one = { repoId: repo.uid, digest };
    assert.deepEqual(await v1.refused(getVulnReport, one, "none"), [401]);
    assert.deepEqual(await v1.refused(getVulnReport, one, "stranger"), [404]);
    assert.deepEqual(await v1.read(getVulnReport, one, "viewer"), await v1.read(getVulnReport, one));
    const missing = { repoId: repo.uid, digest: `sha256:${"0".repeat(64)}` };
    assert.deepEqual(await v1.refused(getVulnReport, missing), [404]);
  });
});
