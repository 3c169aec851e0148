import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { SecurityAdvisoryService } from "@moorage/api";
import { ADVISORIES, newAdvisory } from "../../../server/test/support/advisories.ts";
import { DOCUMENTS, importFeeds, osvArchive, pagesOf } from "../../../server/test/support/vulnerability-lists.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";

let platform: Platform;
let group: string;
before(async () => {
  platform = await startPlatform();
  group = (await platform.group(platform.organization)).uid;
  const affected = (ecosystem: string, name: string, ...fixed: string[]): object => ({
    package: { ecosystem, name },
    ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, ...fixed.map((each) => ({ fixed: each }))] }],
  });
  await importFeeds(platform, {
    osv: {
      file: "osv.zip",
      licence: "CC-BY-4.0",
      content: osvArchive([
        {
          id: "PYSEC-2026-1",
          aliases: ["CVE-2026-1"],
          published: "2026-01-01T00:00:00Z",
          modified: "2026-01-02T00:00:00Z",
          affected: [
            affected("PyPI", "Web_App", "1.2"),
            affected("npm", "web-app", "3.0.0"),
            affected("PyPI", "zope", "5"),
          ],
        },
        { id: "PYSEC-2026-2", withdrawn: "2026-02-01T00:00:00Z", affected: [affected("PyPI", "web-app", "9")] },
      ]),
    },
    alpine: {
      file: "alpine.json",
      content: JSON.stringify({
        distroversion: "v3.20",
        reponame: "main",
        packages: [{ pkg: { name: "openssl", secfixes: { "3.1-r0": ["CVE-2026-1"], 0: ["CVE-2026-2"] } } }],
      }),
    },
    debian: {
      file: "debian.json",
      content: JSON.stringify({
        openssl: {
          "CVE-2026-1": {
            releases: {
              bookworm: { status: "resolved", fixed_version: "3.0.1-1" },
              trixie: { status: "open", nodsa: "Minor issue", nodsa_reason: "ignored" },
            },
          },
        },
      }),
    },
  });
});
after(() => platform.close());

interface Entry {
  id: string;
  packageNamespace: string;
  feed: string;
  licence: string;
  aliases: string[];
  events: Record<string, unknown>[];
}

async function documents(query: string, token?: string): Promise<Record<string, Entry[]>> {
  const answer = await platform.call("GET", `${DOCUMENTS}?${query}`, { token: token ?? (await platform.token()) });
  assert.equal(answer.status, 200, answer.text);
  const list = answer.body["documents"] as { id: string; advisories: Entry[] }[];
  return Object.fromEntries(list.map(({ id, advisories }) => [id, advisories]));
}

const namespaces = (entries: Entry[] = []): string[] =>
  entries.map((each) => `${each.packageNamespace} ${each.id}`).sort();

describe("what the feeds say about packages", () => {
  test("is a document for each name, with what every source says", async () => {
    const all = await documents("");
    assert.deepEqual(Object.keys(all), ["openssl", "web-app", "zope"]);
    assert.deepEqual(namespaces(all["openssl"]), [
      "alpine:3.20 CVE-2026-1",
      "alpine:3.20 CVE-2026-2",
      "debian:12 CVE-2026-1",
      "debian:13 CVE-2026-1",
    ]);
    assert.deepEqual(namespaces(all["web-app"]), ["npm PYSEC-2026-1", "pypi PYSEC-2026-1"]);
    const of = (name: string, namespace: string, id: string): Entry | undefined =>
      all[name]?.find((each) => each.packageNamespace === namespace && each.id === id);
    assert.deepEqual(of("web-app", "pypi", "PYSEC-2026-1"), {
      id: "PYSEC-2026-1",
      packageNamespace: "pypi",
      feed: "osv",
      licence: "CC-BY-4.0",
      aliases: ["CVE-2026-1"],
      events: [
        { timestamp: "2026-01-01T00:00:00.000Z", detection: {} },
        {
          timestamp: "2026-01-02T00:00:00.000Z",
          fixed: { fixedVersion: "1.2", scannerVersion: "", grypeDbBuilt: "", grypeDbChecksum: "" },
        },
      ],
    });
    const fix = (version: string): object => ({
      fixed: { fixedVersion: version, scannerVersion: "", grypeDbBuilt: "", grypeDbChecksum: "" },
    });
    assert.deepEqual(of("openssl", "alpine:3.20", "CVE-2026-1")?.events, [{ detection: {} }, fix("3.1-r0")]);
    assert.deepEqual(of("openssl", "alpine:3.20", "CVE-2026-2")?.events, [
      { detection: {} },
      {
        falsePositiveDetermination: {
          type: "TYPE_VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE",
          note: "never affected",
        },
      },
    ]);
    assert.deepEqual(of("openssl", "debian:12", "CVE-2026-1")?.events, [{ detection: {} }, fix("3.0.1-1")]);
    assert.deepEqual(of("openssl", "debian:13", "CVE-2026-1")?.events, [
      { detection: {} },
      { fixNotPlanned: { note: "Minor issue" } },
    ]);
  });

  test("by package, by vulnerability under any of its ids, and by both", async () => {
    assert.deepEqual(Object.keys(await documents("id=web-app")), ["web-app"]);
    assert.deepEqual(await documents("id=web"), {});
    assert.deepEqual(Object.keys(await documents("cves=PYSEC-2026-1")), ["openssl", "web-app", "zope"]);
    const some = await documents("cves=cve-2026-2");
    assert.deepEqual(
      Object.entries(some).map(([id, entries]) => [id, namespaces(entries)]),
      [["openssl", ["alpine:3.20 CVE-2026-2"]]],
    );
    assert.deepEqual(namespaces((await documents("cves=CVE-2026-1&id=openssl"))["openssl"]), [
      "alpine:3.20 CVE-2026-1",
      "debian:12 CVE-2026-1",
      "debian:13 CVE-2026-1",
    ]);
    assert.deepEqual(await documents("cves=CVE-1999-1"), {});
  });

  test("page by page, in both directions, by REST and gRPC", async () => {
    for (const size of [1, 2, 3]) {
      const pages = await pagesOf(platform, DOCUMENTS, "documents", size);
      assert.deepEqual(
        pages.flat().map(({ id }) => id),
        ["openssl", "web-app", "zope"],
      );
      assert.equal(pages.length, Math.ceil(3 / size));
    }
    const down = await pagesOf(platform, `${DOCUMENTS}?order_by=id%20desc`, "documents", 1);
    assert.deepEqual(
      down.flat().map(({ id }) => id),
      ["zope", "web-app", "openssl"],
    );
    const answer = await both(
      platform,
      SecurityAdvisoryService.method.listDocuments,
      { pageSize: 2 },
      await platform.token(),
    );
    assert.equal(answer.body.totalCount, "3");
  });

  test("a package of very many vulnerabilities has as many as a document holds, and says so", async () => {
    const secfixes = { "1-r0": Array.from({ length: 1_200 }, (_, at) => `CVE-2020-${10_000 + at}`) };
    const packages = [{ pkg: { name: "linux", secfixes } }, { pkg: { name: "linux-lts", secfixes } }];
    await importFeeds(platform, {
      kernels: { file: "k.json", content: JSON.stringify({ distroversion: "v3.20", reponame: "k", packages }) },
    });
    const [linux] = (await platform.ok("GET", `${DOCUMENTS}?id=linux`))["documents"] as Json[];
    assert.deepEqual([(linux?.["advisories"] as object[] | undefined)?.length, linux?.["incomplete"]], [1_000, true]);
    const named = await documents("id=linux&cves=CVE-2020-10000");
    assert.deepEqual(namespaces(named["linux"]), ["alpine:3.20 CVE-2020-10000"]);
    const pages = await pagesOf(platform, DOCUMENTS, "documents", 200);
    assert.deepEqual(
      pages.flat().map(({ id }) => id),
      ["linux", "linux-lts", "openssl", "web-app", "zope"],
    );
    assert.ok(pages.length > 1, "a page ends before it has too much");
  });
});

describe("advisories of groups", () => {
  before(async () => {
    const add = async (fields: object): Promise<Json> => newAdvisory(platform, group, fields);
    const approved = { reviewState: "APPROVED" };
    await add({
      artifactName: "libssl3",
      artifactType: "APK",
      origin: "openssl",
      aliases: ["CVE-2026-7"],
      events: [
        { ...approved, detection: { manual: {} } },
        { fixed: { fixedVersion: "1" } },
        { ...approved, patched: { patchedVersions: ["2"], note: "ours" } },
      ],
    });
    await add({
      artifactName: "acme/web",
      artifactType: "OCI_IMAGE",
      aliases: ["CVE-2026-1"],
      events: [{ ...approved, fixed: { fixedVersion: "2" } }],
    });
    await add({ artifactName: "acme/silent", aliases: ["CVE-2026-1"], events: [{ fixed: { fixedVersion: "2" } }] });
    const deleted = await add({
      artifactName: "acme/gone",
      aliases: ["CVE-2026-1"],
      events: [{ ...approved, fixed: { fixedVersion: "2" } }],
    });
    await platform.ok("DELETE", `${ADVISORIES}/${deleted.uid}`);
  });

  test("are in the document of their origin or artifact, with what was approved", async () => {
    const here = `uidp.descendants_of=${group}`;
    const own = await documents(here);
    assert.deepEqual(Object.keys(own), ["acme/web", "openssl"]);
    const [entry] = own["openssl"] ?? [];
    assert.match(entry?.id ?? "", /^MRG-/);
    assert.deepEqual([entry?.packageNamespace, entry?.feed, entry?.aliases], ["APK", "", ["CVE-2026-7"]]);
    assert.deepEqual(
      entry?.events.map(({ timestamp, ...event }) => [typeof timestamp, event]),
      [
        ["string", { detection: { manual: {} } }],
        ["string", { patched: { patchedVersions: ["2"], note: "ours" } }],
      ],
    );
    assert.deepEqual(Object.keys(await documents(`${here}&cves=CVE-2026-1`)), ["acme/web"]);
    const all = await documents("id=openssl");
    assert.ok(namespaces(all["openssl"]).some((each) => each.startsWith("APK MRG-")));
    assert.ok(namespaces(all["openssl"]).includes("debian:12 CVE-2026-1"));
  });

  test("say how something was found, in the numbers and names of this API's own messages", async () => {
    const scan = { scanner: "grype", componentId: "c", componentVersion: "1", componentType: "deb" };
    await newAdvisory(platform, group, {
      artifactName: "found-by-scan",
      artifactType: "APK",
      aliases: ["CVE-2026-8"],
      events: [
        { reviewState: "APPROVED", detection: { scanv1: { ...scan, subpackage: "sub", component: "libx" } } },
        { reviewState: "APPROVED", detection: { nvdapi: { cpeSearched: "a", cpeFound: "b" } } },
      ],
    });
    const { method } = SecurityAdvisoryService;
    const answer = await both(platform, method.listDocuments, { id: "found-by-scan" }, await platform.token());
    const [{ advisories: [{ events = [] } = {}] = [] } = {}] = answer.body["documents"] as {
      advisories: { events: { detection: Record<string, object> }[] }[];
    }[];
    const [first, second] = events.map(({ detection }) => detection);
    assert.deepEqual(
      Object.entries(first?.["scanv1"] ?? {}).filter(([, value]) => value !== ""),
      [
        ["scanner", "grype"],
        ["subpackageName", "sub"],
        ["componentId", "c"],
        ["componentName", "libx"],
        ["componentVersion", "1"],
        ["componentType", "deb"],
      ],
    );
    assert.deepEqual(second, { nvdapi: { cpeSearched: "a", cpeFound: "b" } });
  });

  test("are seen by a viewer of the group, not by a stranger", async () => {
    const viewer = await platform.token(await platform.identity(group, "viewer"));
    assert.ok("acme/web" in (await documents("", viewer)));
    const stranger = await platform.token(await platform.identity(platform.organization));
    const seen = await documents("", stranger);
    assert.ok("linux" in seen && !("acme/web" in seen));
    assert.ok(!namespaces((await documents("id=openssl", stranger))["openssl"]).some((each) => each.includes("MRG-")));
    assert.deepEqual(await documents("id=acme/web", stranger), {});
    assert.deepEqual(await documents("cves=CVE-2026-7", stranger), {});
    assert.deepEqual(await documents(`uidp.descendants_of=${group}`, stranger), {});
  });
});
