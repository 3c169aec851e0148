import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { attachedStatements, statementsAbout } from "../../src/security/index.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { bundle, cycloneDx, dsse, statementOf } from "../../../server/test/support/catalog/documents.ts";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { deleteReference, pushArtifact, pushIndex, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const OPENVEX = "application/openvex+json";
const IN_TOTO = "application/vnd.in-toto+json";
const LODASH = "pkg:npm/lodash@4.17.20";
const CVE = { ids: ["CVE-2026-1"], purl: LODASH };

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
});
after(() => platform.close());

const newPlace = (): Promise<Place> => newRepoPlace(platform, token);

let images = 0;
const newImage = (place: Place): Promise<string> =>
  pushLayers(place, `v${(images += 1)}`, [tarOf([npmFile("app", "lodash", "4.17.20"), { path: `m-${images}` }])]);

interface Attachment {
  manifest: string;
  kind?: string;
  state: string;
  reason?: string;
  packages?: number;
  statements?: number;
  counts?: boolean;
}

async function attachments(place: Place, digest: string, count: number): Promise<Attachment[]> {
  const all = async (): Promise<Attachment[]> => {
    const path = `/registry/v2/repos/${place.repo}/digests/${digest}/attachments`;
    const { status, body, text } = await platform.call("GET", path, { token: await platform.token() });
    assert.equal(status, 200, text);
    return (body["attachments"] ?? []) as Attachment[];
  };
  return await eventually(
    async () => {
      const found = await all();
      return found.length === count && found.every(({ state }) => state !== "STATE_WAITING") && found;
    },
    { instead: all },
  );
}

const openVex = (statement: object, more: object = {}): string =>
  JSON.stringify({
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://acme.example/vex/1",
    author: "Acme",
    timestamp: "2026-11-01T08:00:00Z",
    version: 1,
    statements: [
      {
        vulnerability: { name: "CVE-2026-1", aliases: ["GHSA-2345-6789-cfgh"] },
        products: [{ "@id": LODASH }],
        status: "not_affected",
        justification: "vulnerable_code_not_in_execute_path",
        impact_statement: "It is never called.",
        ...statement,
      },
    ],
    ...more,
  });

const csaf = (product: object): string =>
  JSON.stringify({
    document: {
      csaf_version: "2.0",
      category: "csaf_vex",
      publisher: { name: "Acme" },
      tracking: { id: "ACME-1", current_release_date: "2026-11-02T08:00:00Z" },
    },
    product_tree: {
      branches: [{ category: "vendor", name: "Acme", branches: [{ product: { product_id: "LIB", ...product } }] }],
    },
    vulnerabilities: [
      {
        cve: "CVE-2026-1",
        product_status: { known_not_affected: ["LIB"] },
        flags: [{ label: "vulnerable_code_not_present", product_ids: ["LIB"] }],
        threats: [{ category: "impact", details: "It was left out.", product_ids: ["LIB"] }],
      },
    ],
  });

const withAnalysis = {
  metadata: { timestamp: "2026-11-03T08:00:00Z", authors: [{ name: "Acme" }] },
  serialNumber: "urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79",
  vulnerabilities: [
    {
      id: "CVE-2026-1",
      analysis: { state: "not_affected", justification: "code_not_reachable", detail: "It is never called." },
      affects: [{ ref: LODASH }],
    },
  ],
};

test("the statements of each format and envelope hold for the package that they are about", async () => {
  const place = await newPlace();
  const purlOnly = { name: "lodash", product_identification_helper: { purl: LODASH } };
  const cases: readonly [type: string, content: (subject: string) => string, kind: string, justification: string][] = [
    [OPENVEX, () => openVex({}), "openvex", "vulnerable_code_not_in_execute_path"],
    [
      IN_TOTO,
      (subject) => statementOf("https://openvex.dev/ns/v0.2.0", openVex({}), subject),
      "openvex",
      "vulnerable_code_not_in_execute_path",
    ],
    [
      "application/vnd.dsse.envelope.v1+json",
      (subject) => dsse(statementOf("https://openvex.dev/ns", openVex({}), subject)),
      "openvex",
      "vulnerable_code_not_in_execute_path",
    ],
    [
      "application/vnd.dev.sigstore.bundle.v0.3+json",
      (subject) => bundle(statementOf("https://openvex.dev/ns", openVex({}), subject)),
      "openvex",
      "vulnerable_code_not_in_execute_path",
    ],
    ["application/csaf+json", () => csaf(purlOnly), "csaf", "vulnerable_code_not_present"],
    [
      "application/vnd.cyclonedx+json",
      () => cycloneDx([], withAnalysis),
      "cyclonedx",
      "vulnerable_code_not_in_execute_path",
    ],
  ];
  for (const [type, contentOf, kind, justification] of cases) {
    const digest = await newImage(place);
    const manifest = await pushArtifact(place, {
      artifactType: type,
      subject: digest,
      layers: [{ mediaType: type, content: contentOf(digest) }],
    });
    const [found] = await attachments(place, digest, 1);
    assert.deepEqual(
      [found?.kind, found?.state, found?.statements, found?.packages ?? 0],
      [kind, "STATE_READ", 1, 0],
      `${type}: ${found?.reason}`,
    );
    const held = await attachedStatements(platform.reader, { repo: place.repo, digest });
    const [statement, ...more] = statementsAbout(held, CVE);
    assert.deepEqual(more, []);
    assert.deepEqual(
      [statement?.status, statement?.justification, statement?.author, statement?.source, statement?.target],
      ["not_affected", justification, "Acme", `${manifest}/0`, LODASH],
      type,
    );
    assert.ok((statement?.impact ?? "") !== "" && (statement?.document ?? "") !== "" && (statement?.timeMs ?? 0) > 0);
    for (const other of [
      { ...CVE, ids: ["CVE-2026-2"] },
      { ...CVE, purl: "pkg:npm/lodash@4.17.21" },
      { ...CVE, purl: "pkg:npm/other@4.17.20" },
    ])
      assert.deepEqual(statementsAbout(held, other), [], JSON.stringify(other));
  }
});

test("a statement about the image holds for its packages, one about another product is rejected", async () => {
  const place = await newPlace();
  const digest = await newImage(place);
  const attach = (content: string): Promise<string> =>
    pushArtifact(place, { artifactType: OPENVEX, subject: digest, layers: [{ mediaType: OPENVEX, content }] });
  const about = (product: object, name: string): string =>
    openVex({ products: [product], vulnerability: { name } }, { "@id": `https://acme.example/${name}` });
  const image = `pkg:oci/app@${encodeURIComponent(digest)}`;
  await attach(about({ "@id": image }, "CVE-2026-10"));
  await attach(about({ "@id": "pkg:oci/app", subcomponents: [{ "@id": "pkg:npm/lodash" }] }, "CVE-2026-11"));
  await attach(about({ "@id": `registry.example/acme/app@${digest}` }, "CVE-2026-12"));
  await attach(about({ "@id": `pkg:oci/app@sha256%3A${"0".repeat(64)}` }, "CVE-2026-13"));
  await attach(about({ "@id": "https://acme.example/another-product" }, "CVE-2026-14"));
  await attach(openVex({ status: "harmless" }));
  const found = await attachments(place, digest, 6);
  const reasons = found.flatMap(({ reason = "" }) => (reason === "" ? [] : [reason])).sort();
  assert.equal(reasons.length, 3);
  assert.match(
    reasons.join("\n"),
    /no statement of it is about sha256:[^]*no statement[^]*statements\[0\]\.status: must be/,
  );
  const held = await attachedStatements(platform.reader, { repo: place.repo, digest });
  const holding = (purl: string): string[] =>
    [10, 11, 12, 13, 14]
      .map((n) => `cve-2026-${n}`)
      .filter((id) => statementsAbout(held, { purl, ids: [id] }).length > 0);
  assert.deepEqual(holding(LODASH), ["cve-2026-10", "cve-2026-11", "cve-2026-12"]);
  assert.deepEqual(holding("pkg:npm/other@1.0.0"), ["cve-2026-10", "cve-2026-12"]);
});

test("a finding is closed by the statement as long as it is attached", async () => {
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-2345-6789-cfgh", { aliases: ["CVE-2026-1"], ...affectedBefore("lodash", "4.17.21") }),
  ]);
  const place = await newPlace();
  const digest = await newImage(place);
  interface Finding {
    vulnerability: string;
    closeReason?: string;
    statement?: { justification: string; document: string; author: string; source: string; impact: string };
  }
  const findings = async (state: string, count: number): Promise<Finding[]> => {
    const path = `/vulnerabilities/v2/findings?repo=${place.repo}&digest=${digest}&state=${state}`;
    return await eventually(
      async () => {
        const found = ((await platform.ok("GET", path))["findings"] ?? []) as Finding[];
        return found.length === count && found;
      },
      { instead: () => platform.ok("GET", path) },
    );
  };
  const [open] = await findings("OPEN", 1);
  assert.equal(open?.statement, undefined);
  assert.deepEqual(await findings("CLOSED", 0), []);
  const content = openVex({});
  const manifest = await pushArtifact(place, {
    artifactType: OPENVEX,
    subject: digest,
    layers: [{ mediaType: OPENVEX, content }],
  });
  await findings("OPEN", 0);
  const [closed] = await findings("CLOSED", 1);
  assert.equal(closed?.vulnerability, open?.vulnerability);
  assert.equal(closed?.closeReason, "VEX_NOT_AFFECTED");
  const { justification, document, author, source, impact } =
    closed?.statement ?? ({} as Partial<NonNullable<Finding["statement"]>>);
  assert.deepEqual(
    [justification, document, author, source, impact],
    [
      "vulnerable_code_not_in_execute_path",
      "https://acme.example/vex/1",
      "Acme",
      `${manifest}/0`,
      "It is never called.",
    ],
  );
  await deleteReference(place, manifest);
  await findings("OPEN", 1);
});

test("statements hold from when they are read until they are removed, and can be read as of a time", async () => {
  const place = await newPlace();
  const digest = await newImage(place);
  const attach = (content: string): Promise<string> =>
    pushArtifact(place, { artifactType: OPENVEX, subject: digest, layers: [{ mediaType: OPENVEX, content }] });
  const states = async (atMs?: number): Promise<string[]> =>
    statementsAbout(await attachedStatements(platform.reader, { repo: place.repo, digest, atMs }), CVE).map(
      ({ status }) => status,
    );
  const beforeMs = Date.now() - 1;
  const old = await attach(openVex({ status: "under_investigation" }, { timestamp: "2026-10-01T08:00:00Z" }));
  await attachments(place, digest, 1);
  await attach(openVex({}));
  await attachments(place, digest, 2);
  assert.deepEqual(await states(), ["not_affected", "under_investigation"], "the latest document is first");
  await wait(5);
  const betweenMs = Date.now();
  await wait(5);
  await deleteReference(place, old);
  await attachments(place, digest, 1);
  assert.deepEqual(await states(), ["not_affected"]);
  assert.deepEqual(await states(betweenMs), ["not_affected", "under_investigation"]);
  assert.deepEqual(await states(beforeMs), []);
});

test("what is attached to an index holds for its images in that repo, and in no other", async () => {
  const [one, two] = [await newPlace(), await newPlace()];
  const layer = tarOf([npmFile("app", "lodash", "4.17.20"), { path: "in both" }]);
  const digest = await pushLayers(one, "v1", [layer]);
  assert.equal(await pushLayers(two, "v1", [layer]), digest);
  const index = await pushIndex(one, "index", [[digest, { os: "linux", architecture: "amd64" }]]);
  await pushArtifact(one, {
    artifactType: OPENVEX,
    subject: index,
    layers: [{ mediaType: OPENVEX, content: openVex({}) }],
  });
  await attachments(one, index, 1);
  const count = async ({ repo }: Place): Promise<number> =>
    (await attachedStatements(platform.reader, { repo, digest })).length;
  assert.deepEqual([await count(one), await count(two)], [1, 0]);
});

test("a document may be both: an SBOM whose packages count, with statements about them", async () => {
  const place = await newPlace();
  const digest = await newImage(place);
  const type = "application/vnd.cyclonedx+json";
  await pushArtifact(place, {
    artifactType: type,
    subject: digest,
    layers: [{ mediaType: type, content: cycloneDx(["stated"], withAnalysis) }],
  });
  const [found] = await attachments(place, digest, 1);
  assert.deepEqual([found?.packages, found?.statements, found?.counts], [1, 1, true]);
  // As VEX alone, the components that it names are no list of what the image holds.
  const statement = statementOf("https://cyclonedx.org/vex", cycloneDx(["stated"], withAnalysis), digest);
  const second = await pushArtifact(place, {
    artifactType: IN_TOTO,
    subject: digest,
    layers: [{ mediaType: IN_TOTO, content: statement }],
  });
  const vex = (await attachments(place, digest, 2)).find(({ manifest }) => manifest === second);
  assert.deepEqual([vex?.packages ?? 0, vex?.statements, vex?.counts ?? false], [0, 1, false]);
});

test("documents are counted by kind and by whether they count, and what waits", async () => {
  const place = await newPlace();
  const digest = await newImage(place);
  const metrics = async (): Promise<string> => await (await fetch(`${platform.url}/metrics`)).text();
  const count = async (labels: string): Promise<number> => {
    const sample = `moorage_vulnerability_attached_documents_total{${labels}} `;
    const line = (await metrics()).split("\n").find((each) => each.startsWith(sample));
    return Number(line?.slice(sample.length) ?? 0);
  };
  const labels = [
    'kind="openvex",outcome="read"',
    'kind="openvex",outcome="rejected"',
    'kind="unknown",outcome="rejected"',
  ];
  const before = await Promise.all(labels.map(count));
  const contents = [openVex({}), openVex({ products: [{ "@id": "https://acme.example/other" }] }), "{"];
  for (const content of contents)
    await pushArtifact(place, { artifactType: OPENVEX, subject: digest, layers: [{ mediaType: OPENVEX, content }] });
  await attachments(place, digest, 3);
  // They are counted once they are stored.
  for (const [at, each] of labels.entries())
    await eventually(async () => (await count(each)) === (before[at] ?? 0) + 1);
  for (const kind of ["checks", "manifests"])
    assert.match(await metrics(), new RegExp(`^moorage_vulnerability_attached_backlog\\{kind="${kind}"\\} \\d+$`, "m"));
});
