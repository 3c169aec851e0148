import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { SecurityAdvisory } from "@moorage/api/v1/advisory";
import { newAdvisory } from "../support/advisories.ts";
import { importFeeds, osvArchive } from "../support/vulnerability-lists.ts";
import { blamed, type Json, type Platform, startPlatform } from "../support/platform.ts";
import { both } from "../support/rest-and-grpc.ts";
import { type TaggedRepo, taggedRepo } from "../support/vuln-reports.ts";

const DOCUMENTS = "/advisory/v1/documents";
const METADATA = "/advisory/v1/metadata";
const RESOLVED = "/advisory/v1/images/resolved_vulns";
const CVSS = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
const FEED_PACKAGES = 1_100;

describe("what is known, by v1", () => {
  let platform: Platform;
  let group: string;
  before(async () => {
    platform = await startPlatform();
    group = (await platform.group(platform.organization)).uid;
    const affected = (name: string): object => ({
      package: { ecosystem: "PyPI", name },
      ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1.2" }] }],
    });
    await importFeeds(platform, {
      osv: {
        file: "osv.zip",
        content: osvArchive([
          {
            id: "PYSEC-2026-1",
            aliases: ["CVE-2026-1"],
            summary: "short",
            details: "long",
            published: "2026-01-01T00:00:00Z",
            modified: "2026-01-02T00:00:00Z",
            severity: [{ type: "CVSS_V3", score: CVSS }],
            references: [{ type: "FIX", url: "https://fix.example/1" }],
            affected: [affected("app")],
          },
          ...Array.from({ length: FEED_PACKAGES }, (_, at) => ({
            id: `PYSEC-2026-${at + 10}`,
            affected: [affected(`many-${String(at).padStart(4, "0")}`)],
          })),
        ]),
      },
    });
  });
  after(() => platform.close());

  const items = async <T = Json>(path: string): Promise<T[]> =>
    (await platform.ok<{ items?: T[] }>("GET", path)).items ?? [];

  test("all documents are one list", async () => {
    const found = await items(DOCUMENTS);
    assert.deepEqual(
      found.map(({ id }) => id),
      ["app", ...Array.from({ length: FEED_PACKAGES }, (_, at) => `many-${String(at).padStart(4, "0")}`)],
    );
    const [one] = await items(`${DOCUMENTS}?id=app`);
    assert.deepEqual(one, {
      id: "app",
      advisories: [
        {
          id: "PYSEC-2026-1",
          events: [
            { timestamp: "2026-01-01T00:00:00.000Z", detection: {} },
            { timestamp: "2026-01-02T00:00:00.000Z", fixed: { fixedVersion: "1.2" } },
          ],
          aliases: ["CVE-2026-1"],
          packageNamespace: "pypi",
        },
      ],
    });
    assert.deepEqual(
      (await items(`${DOCUMENTS}?cves=cve-2026-1&cves=PYSEC-2026-10`)).map(({ id }) => id),
      ["app", "many-0000"],
    );
    assert.deepEqual(await platform.ok("GET", `${DOCUMENTS}?id=none`), {});
  });

  test("an advisory of a group has each of its approved events, patches left out", async () => {
    const approved = { reviewState: "APPROVED" };
    const scanv1 = {
      scanner: "s",
      componentId: "id",
      componentVersion: "1",
      componentType: "go-module",
      componentLocation: "/usr",
      artifactVersion: "2",
      scannerVersion: "3",
      grypeDbBuilt: "then",
      grypeDbChecksum: "sum",
    };
    const fixed = { fixedVersion: "2", scannerVersion: "3", grypeDbBuilt: "then", grypeDbChecksum: "sum" };
    const { advisoryId } = await newAdvisory(platform, group, {
      artifactName: "own",
      artifactType: "APK",
      aliases: ["CVE-2026-7"],
      events: [
        { detection: { nvdapi: { cpeSearched: "a", cpeFound: "b" } }, ...approved },
        { detection: { manual: {} }, ...approved },
        { detection: { scanv1: { ...scanv1, subpackage: "sub", component: "name" } }, ...approved },
        { truePositiveDetermination: { note: "n" }, ...approved },
        { fixed: { ...fixed, note: "n" }, ...approved },
        { patched: { patchedVersions: ["1"] }, ...approved },
        { falsePositiveDetermination: { type: "TYPE_INLINE_MITIGATIONS_EXIST", note: "n" }, ...approved },
        { analysisNotPlanned: { note: "n" }, ...approved },
        { fixNotPlanned: { note: "n" }, ...approved },
        { pendingUpstreamFix: { note: "n" }, ...approved },
        { fixNotPlanned: { note: "waits" } },
      ],
    });
    const [{ advisories: [advisory] = [] } = {}] = await items<{
      advisories: { events: { timestamp: string }[] }[];
    }>(`${DOCUMENTS}?id=own`);
    assert.deepEqual(
      {
        ...advisory,
        events: advisory?.events.map(({ timestamp, ...event }) => (assert.match(timestamp, /Z$/), event)),
      },
      {
        id: advisoryId,
        aliases: ["CVE-2026-7"],
        packageNamespace: "APK",
        events: [
          { detection: { nvdapi: { cpeSearched: "a", cpeFound: "b" } } },
          { detection: { manual: {} } },
          { detection: { scanv1: { ...scanv1, subpackageName: "sub", componentName: "name" } } },
          { truePositiveDetermination: { note: "n" } },
          { fixed },
          { falsePositiveDetermination: { type: "FPT_TYPE_INLINE_MITIGATIONS_EXIST", note: "n" } },
          { analysisNotPlanned: { note: "n" } },
          { fixNotPlanned: { note: "n" } },
          { pendingUpstreamFix: { note: "n" } },
        ],
      },
    );
  });

  test("metadata has pages", async () => {
    const page = await platform.ok("GET", `${METADATA}?ids=CVE-2026-1&ids=PYSEC-2026-1&ids=PYSEC-2026-10&page_size=2`);
    const [first] = page["items"] as object[];
    assert.deepEqual(first, {
      id: "CVE-2026-1",
      summary: "short",
      details: "long",
      references: [{ type: "FIX", url: "https://fix.example/1" }],
      severity: [{ type: "CVSS_V3", score: CVSS }],
    });
    assert.deepEqual([(page["items"] as object[]).length, page.totalCount], [2, "3"]);
    const query = "ids=CVE-2026-1&ids=PYSEC-2026-1&ids=PYSEC-2026-10";
    const last = await platform.ok("GET", `${METADATA}?${query}&page_size=2&page_token=${page.nextPageToken}`);
    assert.deepEqual(
      [(last["items"] as Json[]).map(({ id }) => id), last.nextPageToken],
      [["PYSEC-2026-10"], undefined],
    );
    const other = await platform.ok("GET", `${METADATA}?${query}&order_by=id%20desc&skip=1`);
    assert.deepEqual(
      [(other["items"] as Json[]).map(({ id }) => id), other.skipped],
      [["PYSEC-2026-1", "CVE-2026-1"], 1],
    );
    assert.deepEqual(
      (await items(`${METADATA}?id=cve-2026-1`)).map(({ id }) => id),
      ["CVE-2026-1"],
    );
    assert.deepEqual(await platform.ok("GET", `${METADATA}?id=CVE-none`), {});
  });

  test("without a token nothing is answered, and a stranger gets what the feeds say", async () => {
    const { listDocuments, listResolvedVulnsReports, listVulnerabilityMetadata } = SecurityAdvisory.method;
    const stranger = await platform.token(await platform.identity(platform.organization));
    await newAdvisory(platform, group, {
      artifactName: "hidden",
      events: [{ detection: {}, reviewState: "APPROVED" }],
    });
    const imageRefs = [{ repo: `${group}/${"0".repeat(16)}` }];
    for (const status of [
      (await both(platform, listDocuments, {})).status,
      (await both(platform, listVulnerabilityMetadata, {})).status,
      (await both(platform, listResolvedVulnsReports, { imageRefs })).status,
    ])
      assert.equal(status, 401);
    assert.deepEqual((await both(platform, listDocuments, { id: "hidden" }, stranger)).body, {});
    assert.equal((await both(platform, listDocuments, { id: "app" }, stranger)).status, 200);
    assert.deepEqual((await both(platform, listResolvedVulnsReports, { imageRefs }, stranger)).body, {});
  });
});

describe("resolved vulnerabilities by v1", () => {
  let repo: TaggedRepo;
  before(async () => {
    repo = await taggedRepo();
  });
  after(() => repo.platform.close());

  test("are reported by day, under the names of v1", async () => {
    const { platform, uid, path } = repo;
    await newAdvisory(platform, platform.organization, {
      artifactName: path,
      artifactType: "OCI_IMAGE",
      componentName: "left-pad",
      aliases: ["CVE-2026-1", "GHSA-2345-6789-cfgh"],
      severities: [{ type: "TYPE_CVSS_V3", score: CVSS }],
      events: [{ fixed: { fixedVersion: "2.0.0" }, reviewState: "APPROVED" }],
    });
    const [old, fixed] = [await repo.image("left-pad@1.0.0"), await repo.image("left-pad@2.1.0")];
    const first = repo.today();
    await repo.move(old);
    const second = repo.nextDay();
    await repo.move(fixed);
    // There is no feed here: only the advisory says something.
    const unknown = {
      state: "NO_DATA",
      stateReason: "no feed covers 1 package of npm (moorage feeds add osv-npm would)",
    };
    const wanted = {
      items: [
        { date: `${first}T00:00:00.000Z`, ...unknown },
        {
          date: `${second}T00:00:00.000Z`,
          ...unknown,
          resolvedVulns: [
            { id: "CVE-2026-1", aliases: ["GHSA-2345-6789-cfgh"], cvssSeverities: [{ type: "CVSS_V3", score: CVSS }] },
          ],
        },
      ],
    };
    for (const name of [uid, path])
      assert.deepEqual(
        await platform.ok("GET", `${RESOLVED}?image_refs.repo=${name}&image_refs.tags=latest&from=${first}T00:00:00Z`),
        wanted,
      );
    assert.deepEqual(
      await platform.ok("GET", `${RESOLVED}?image_refs.repo=${uid}&from=${first}T00:00:00Z&to=${first}T23:00:00Z`),
      { items: wanted.items.slice(0, 1) },
    );
    const wrong = async (query: string): Promise<string[]> =>
      blamed(await platform.call("GET", `${RESOLVED}?${query}`, { token: await platform.token() }));
    assert.deepEqual(await wrong(""), ["image_refs"]);
    const refs = `image_refs.repo=${uid}`;
    assert.deepEqual(await wrong(`${refs}&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z`), ["to"]);
    assert.deepEqual(await wrong(`${refs}&from=2024-01-02T00:00:00Z&to=2026-01-01T00:00:00Z`), ["from"]);
    const missing = await platform.call("GET", `${RESOLVED}?image_refs.repo=none`, { token: await platform.token() });
    assert.equal(missing.status, 404);
  });
});
