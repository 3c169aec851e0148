import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { allOf, fileOf, osv } from "../../../server/test/support/feed-files.ts";
import { zipOf } from "../../../server/test/support/zip.ts";

const jsonFile = (t: TestContext, document: unknown): string => fileOf(t, "feed.json", JSON.stringify(document));

test("an OSV record: ids, times, packages, and the content with fields that came later", async (t) => {
  const content = {
    id: "ACME-2026-1",
    modified: "2026-01-02T03:04:05.5Z",
    withdrawn: "2026-02-01T00:00:00Z",
    aliases: ["CVE-2026-1", "CVE-2026-1", "GHSA-2345-6789-cfgh"],
    affected: [
      { package: { ecosystem: "Ecosystem of tomorrow:3", name: "a", purl: "pkg:new/a" }, versions: ["1"] },
      { package: { ecosystem: "Ecosystem of tomorrow:3", name: "a" }, later: 1 },
    ],
    field_of_a_later_schema: { kept: true },
  };
  const { records, problems } = await allOf("osv", jsonFile(t, content));
  assert.deepEqual(problems, []);
  const [record] = records;
  assert.deepEqual(JSON.parse(record?.body ?? ""), content);
  assert.equal(record?.modified, Date.parse("2026-01-02T03:04:05.500Z"));
  assert.equal(record?.withdrawn, Date.parse("2026-02-01T00:00:00Z"));
  assert.deepEqual(record?.aliases, ["CVE-2026-1", "GHSA-2345-6789-cfgh"]);
  assert.deepEqual(
    record?.packages.map(({ ecosystem, name }) => [ecosystem, name]),
    [["Ecosystem of tomorrow:3", "a"]],
  );
});

test("a severity comes from the newest CVSS, else from the database's word", async (t) => {
  const v2 = { type: "CVSS_V2", score: "AV:N/AC:L/Au:N/C:P/I:P/A:P" };
  const v3 = { type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" };
  const v4 = { type: "CVSS_V4", score: "CVSS:4.0/AV:L/AC:L/AT:N/PR:N/UI:A/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N" };
  const cases: [object, string, number | null][] = [
    [{ severity: [v2] }, "HIGH", 7.5],
    [{ severity: [v3, v2] }, "CRITICAL", 9.8],
    [{ severity: [v3, v4] }, "MEDIUM", 4.6],
    [{ affected: [{ severity: [v2] }, { severity: [v3] }] }, "CRITICAL", 9.8],
    [{ database_specific: { severity: "MODERATE" } }, "MEDIUM", null],
    [{ severity: [v3], database_specific: { severity: "LOW" } }, "CRITICAL", 9.8],
    [{ severity: [{ type: "Ubuntu", score: "negligible" }] }, "NEGLIGIBLE", null],
    [
      { affected: [{ ecosystem_specific: { severity: "low" } }, { database_specific: { severity: "High" } }] },
      "HIGH",
      null,
    ],
    [{ database_specific: { severity: "constructor" } }, "UNKNOWN", null],
    [{}, "UNKNOWN", null],
  ];
  const zip = zipOf(cases.map(([more], at) => ({ name: `A-${at}.json`, content: osv(`A-${at}`, more) })));
  const { records, problems } = await allOf("osv", fileOf(t, "all.zip", zip));
  assert.deepEqual(problems, []);
  assert.deepEqual(
    records.map(({ severity, score }) => [severity, score]),
    cases.map(([, severity, score]) => [severity, score]),
  );
});

test("an OSV record that is not valid is a problem that names the field", async (t) => {
  const bad: [object, RegExp][] = [
    [{ modified: "1-01-01T00:00:00Z" }, /^modified: /],
    [{ modified: undefined }, /^modified: is missing$/],
    [{ modified: "2026-02-30T00:00:00Z" }, /^modified: /],
    [{ affected: [{ package: { name: "a" } }] }, /^affected\[0\]\.package\.ecosystem: is missing$/],
    [
      { affected: [{}, { ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { soon: "1" }] }] }] },
      /^affected\[1\]\.ranges\[0\]\.events\[1\]: has none of the forms/,
    ],
    [{ id: "two words" }, /^id: /],
    [{ id: 7 }, /^id: /],
  ];
  const files = bad.map(([more], at) => ({ name: `x/A-${at}.json`, content: osv(`A-${at}`, more) }));
  const { records, problems } = await allOf(
    "osv",
    fileOf(t, "all.zip", zipOf([...files, { name: "B-1.json", content: osv("B-1") }])),
  );
  assert.deepEqual(
    records.map(({ id }) => id),
    ["B-1"],
  );
  assert.deepEqual(
    problems.map(({ id }) => id),
    bad.map((_, at) => `A-${at}`),
  );
  for (const [at, [, message]] of bad.entries()) assert.match(problems[at]?.message ?? "", message);
});

test("an OSV record whose commits are written in short is read, as published ones are", async (t) => {
  const events = [{ introduced: "0" }, { fixed: "cb35df940a" }];
  const content = osv("A-1", { affected: [{ ranges: [{ type: "GIT", repo: "https://example.com/a.git", events }] }] });
  const { records, problems } = await allOf("osv", fileOf(t, "A-1.json", content));
  assert.deepEqual([records.map(({ id }) => id), problems], [["A-1"], []]);
});

test("Alpine: a record for each package and id, ids after the first are aliases", async (t) => {
  const { records, problems } = await allOf(
    "alpine-secdb",
    jsonFile(t, {
      distroversion: "v3.20",
      reponame: "main",
      packages: [
        {
          pkg: {
            name: "openssl",
            secfixes: { "3.1-r0": ["CVE-2026-1 XSA-7", "CVE-2026-2"], "3.3-r1": ["CVE-2026-1"], "0": ["CVE-2026-3"] },
          },
        },
        { pkg: { name: "musl", secfixes: { "1.2-r0": [7] } } },
        { pkg: { name: "zlib", secfixes: {} } },
      ],
    }),
  );
  assert.deepEqual(
    records.map(({ id, aliases, body }) => [id, aliases, (JSON.parse(body) as { fixed: string[] }).fixed.toSorted()]),
    [
      ["v3.20/main/openssl/CVE-2026-3", ["CVE-2026-3"], ["0"]],
      ["v3.20/main/openssl/CVE-2026-1", ["CVE-2026-1", "XSA-7"], ["3.1-r0", "3.3-r1"]],
      ["v3.20/main/openssl/CVE-2026-2", ["CVE-2026-2"], ["3.1-r0"]],
    ],
  );
  assert.deepEqual(records[0]?.packages, [{ ecosystem: "Alpine:v3.20", name: "openssl" }]);
  assert.deepEqual(problems, [
    { id: "", position: "packages[1].pkg", message: "packages[1].pkg.secfixes.1.2-r0: must be a text" },
  ]);
});

test("Debian: a record for each source package and id, whatever way the document is cut", async (t) => {
  const entry = (urgency: string): object => ({
    description: 'a "quoted" } and { [ \\" text, with: signs',
    releases: {
      bookworm: { status: "resolved", fixed_version: "1-1", urgency },
      trixie: { status: "open", urgency: "unimportant" },
    },
  });
  const document = {
    openssl: { "CVE-2026-1": entry("high"), "CVE-2026-2": { releases: { sid: { urgency: "low" } } } },
    'we"ird': { "CVE-2026-1": entry("not yet assigned") },
    empty: {},
  };
  for (const text of [JSON.stringify(document), JSON.stringify(document, null, 2)]) {
    const { records, problems } = await allOf("debian-tracker", fileOf(t, "debian.json", text));
    assert.deepEqual(
      records.map(({ id, aliases, severity }) => [id, aliases, severity]),
      [
        ["openssl/CVE-2026-1", ["CVE-2026-1"], "HIGH"],
        ['we"ird/CVE-2026-1', ["CVE-2026-1"], "NEGLIGIBLE"],
      ],
    );
    assert.deepEqual(JSON.parse(records[0]?.body ?? ""), { ...entry("high"), package: "openssl", id: "CVE-2026-1" });
    assert.deepEqual(
      records[0]?.packages.map(({ ecosystem }) => ecosystem),
      ["Debian:bookworm", "Debian:trixie"],
    );
    assert.deepEqual(
      problems.map(({ id, message }) => [id, message]),
      [["openssl/CVE-2026-2", "releases.sid.status: must be a text"]],
    );
  }
});

test("VEX documents of three formats: what they are about, and their products without versions", async (t) => {
  const openvex = {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://example.com/vex/1",
    timestamp: "2026-01-01T00:00:00Z",
    last_updated: "2026-01-03T00:00:00+01:00",
    statements: [
      {
        vulnerability: { name: "CVE-2026-1" },
        status: "not_affected",
        justification: "component_not_present",
        products: [
          {
            "@id": "pkg:oci/app@sha256%3Aabc?repository_url=example.com",
            identifiers: { purl: "pkg:npm/%40acme/app@1.0" },
          },
        ],
      },
    ],
  };
  const csaf = {
    document: {
      category: "csaf_vex",
      csaf_version: "2.0",
      tracking: { id: "RHSA-1", current_release_date: "2026-01-04T00:00:00Z" },
    },
    product_tree: {
      branches: [
        {
          branches: [
            { product: { product_identification_helper: { purl: "pkg:rpm/redhat/openssl@3.0?arch=x86_64" } } },
          ],
        },
      ],
    },
    vulnerabilities: [{ cve: "CVE-2026-2", product_status: { known_not_affected: ["a"] } }],
  };
  const cyclonedx = {
    bomFormat: "CycloneDX",
    serialNumber: "urn:uuid:1",
    metadata: { timestamp: "2026-01-05T00:00:00Z", component: { "bom-ref": "app", purl: "pkg:oci/app@1" } },
    vulnerabilities: [{ id: "CVE-2026-3", analysis: { state: "not_affected" }, affects: [{ ref: "urn:cdx:x/1#app" }] }],
  };
  const of = async (format: "openvex" | "csaf-vex" | "cyclonedx-vex", document: object): Promise<unknown> => {
    const { records } = await allOf(format, jsonFile(t, document));
    return records.map(({ id, modified, about, products, aliases }) => [
      id,
      new Date(modified).toISOString(),
      about,
      products,
      aliases,
    ]);
  };
  assert.deepEqual(await of("openvex", openvex), [
    [
      "https://example.com/vex/1",
      "2026-01-02T23:00:00.000Z",
      ["CVE-2026-1"],
      ["pkg:oci/app", "pkg:npm/%40acme/app"],
      [],
    ],
  ]);
  assert.deepEqual(await of("csaf-vex", csaf), [
    ["RHSA-1", "2026-01-04T00:00:00.000Z", ["CVE-2026-2"], ["pkg:rpm/redhat/openssl"], []],
  ]);
  assert.deepEqual(await of("cyclonedx-vex", cyclonedx), [
    ["urn:uuid:1", "2026-01-05T00:00:00.000Z", ["CVE-2026-3"], ["pkg:oci/app"], []],
  ]);
  const [statement] = openvex.statements;
  await assert.rejects(of("openvex", { ...openvex, statements: [{ ...statement, status: "fine" }] }), {
    message: /^feed\.json: statements\[0\]\.status: must be one of not_affected, /,
  });
  await assert.rejects(
    of("openvex", { ...openvex, statements: [{ ...statement, justification: undefined }] }),
    /statements\[0\]\.justification: /,
  );
  await assert.rejects(
    of("csaf-vex", { ...csaf, document: { ...csaf.document, category: "csaf_base" } }),
    /document\.category: /,
  );
  await assert.rejects(of("cyclonedx-vex", { ...cyclonedx, bomFormat: "SPDX" }), /bomFormat: /);
});

test("KEV and EPSS: records by the id of the vulnerability", async (t) => {
  const kev = await allOf(
    "kev",
    jsonFile(t, {
      vulnerabilities: [
        { cveID: "CVE-2026-1", dateAdded: "2026-01-02" },
        { cveID: "CVE-2026-2", dateAdded: "soon" },
      ],
    }),
  );
  assert.deepEqual(
    kev.records.map(({ id, modified }) => [id, modified]),
    [["CVE-2026-1", Date.parse("2026-01-02")]],
  );
  assert.deepEqual(kev.problems, [
    { id: "CVE-2026-2", position: "vulnerabilities[1]", message: 'vulnerabilities[1].dateAdded: "soon" is not a time' },
  ]);
  const csv =
    "#model_version:v2025.03.14,score_date:2026-01-02T00:00:00+0000\ncve,epss,percentile\nCVE-2026-1,0.00043,0.1\r\nCVE-2026-2,1.5,0.1\nCVE-2026-3,1,9e-05";
  for (const content of [gzipSync(csv), Buffer.from(csv)]) {
    const epss = await allOf("epss", fileOf(t, "epss.csv.gz", content));
    assert.deepEqual(
      epss.records.map(({ id, body, modified }) => [id, JSON.parse(body), modified]),
      [
        ["CVE-2026-1", { epss: 0.00043, percentile: 0.1 }, Date.parse("2026-01-02")],
        ["CVE-2026-3", { epss: 1, percentile: 0.00009 }, Date.parse("2026-01-02")],
      ],
    );
    assert.deepEqual(epss.problems, [
      { id: "CVE-2026-2", position: "line 4", message: "epss: must be a number from 0 to 1" },
    ]);
  }
});

test("end of life: pages with front matter and the API's JSON", async (t) => {
  const page = `---\ntitle: Node.js\nidentifiers:\n  - purl: pkg:docker/library/node\n  - cpe: cpe:2.3:a:x\nreleases:\n  - releaseCycle: "26"\n    eol: 2029-04-30\n---\n\n> text\n`;
  const zip = zipOf([
    { name: "products/", content: "" },
    { name: "products/nodejs.md", content: page },
    { name: "products/none.md", content: "no front matter" },
  ]);
  const pages = await allOf("endoflife", fileOf(t, "products.zip", zip));
  assert.deepEqual(
    pages.records.map(({ id, products }) => [id, products]),
    [["nodejs", ["pkg:docker/library/node"]]],
  );
  assert.deepEqual((JSON.parse(pages.records[0]?.body ?? "") as { releases: unknown }).releases, [
    { releaseCycle: "26", eol: "2029-04-30" },
  ]);
  assert.deepEqual(pages.problems, [{ id: "none", position: "products/none.md", message: "has no front matter" }]);
  const api = await allOf(
    "endoflife",
    jsonFile(t, {
      result: [
        {
          name: "nodejs",
          identifiers: [
            { id: "pkg:docker/library/node", type: "purl" },
            { id: "cpe:/a", type: "cpe" },
          ],
          releases: [{ name: "26" }],
        },
        { name: "empty", releases: [] },
      ],
    }),
  );
  assert.deepEqual(
    api.records.map(({ id, products }) => [id, products]),
    [["nodejs", ["pkg:docker/library/node"]]],
  );
  assert.deepEqual(
    api.problems.map(({ id, message }) => [id, message]),
    [["empty", "result[1].releases: has no release"]],
  );
});
