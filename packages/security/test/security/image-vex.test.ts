import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { AdvisoryExportsService } from "@moorage/api/messages";
import type { FeedRecord } from "../../src/security/records/record.ts";
import { openVex } from "../../src/security/vex/records.ts";
import { ADVISORIES, ADVISORY_EVENTS, holderOf, newAdvisory } from "../../../server/test/support/advisories.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { deleteReference, pushArtifact, pushIndex, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { putRecords } from "../../../server/test/support/feed-records.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { openVexProblem } from "../../../server/test/support/schemas.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

const OPENVEX = "application/openvex+json";

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
});
after(() => platform.close());

let images = 0;

/** An image of these packages of npm, once it is known what it holds. */
async function newImage(place: Place, tag: string, packages: readonly string[], architecture = "amd64") {
  const files = packages.map((each) => npmFile("app", ...(each.split("@") as [string, string])));
  const layer = tarOf([...files, { path: `m-${(images += 1)}` }]);
  const digest = await pushLayers(place, tag, [layer], undefined, { architecture, os: "linux" });
  await eventually(async () => (await platform.call("GET", `${of(place, digest)}/sbom`, await owner())).status === 200);
  return digest;
}

const of = ({ repo }: Place, digest: string): string => `/registry/v2/repos/${repo}/digests/${digest}`;
const owner = async (): Promise<{ token: string }> => ({ token: await platform.token() });

/** Attaches an OpenVEX document of these statements, and waits until they are known. */
async function attach(place: Place, digest: string, statements: readonly object[]): Promise<string> {
  const content = JSON.stringify({
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": `https://acme.example/vex/${(images += 1)}`,
    author: "Acme",
    timestamp: "2026-11-01T08:00:00Z",
    version: 1,
    statements,
  });
  const layers = [{ mediaType: OPENVEX, content }];
  const manifest = await pushArtifact(place, { artifactType: OPENVEX, subject: digest, layers });
  await eventually(async () => {
    const { attachments = [] } = (await platform.ok("GET", `${of(place, digest)}/attachments`)) as {
      attachments?: { manifest: string; state: string }[];
    };
    return attachments.some((each) => each.manifest === manifest && each.state === "STATE_READ");
  });
  return manifest;
}

interface Product {
  "@id": string;
  identifiers: { purl: string };
  hashes: Record<string, string>;
  subcomponents?: { "@id": string; identifiers: { purl: string } }[];
}
interface Said {
  "@id"?: string;
  vulnerability: { name: string; aliases?: string[] };
  timestamp: string;
  products: Product[];
  status: string;
  supplier?: string;
  justification?: string;
  impact_statement?: string;
  action_statement?: string;
  status_notes?: string;
}
interface Vex {
  "@id": string;
  author: string;
  version: number;
  statements: Said[];
}

const { getImageVexDocument } = AdvisoryExportsService.method;
const asked = async (place: Place, reference: string): Promise<Answer> =>
  await both(platform, getImageVexDocument, { repoUid: place.repo, reference }, await platform.token());

async function vexOf(place: Place, reference: string): Promise<Vex> {
  const answer = await asked(place, reference);
  assert.equal(answer.status, 200, answer.text);
  const document = answer.body["document"] as Vex;
  assert.equal(openVexProblem(document), undefined);
  return document;
}

/** Each statement in one line: vulnerability, status, and of which packages; `image` for all of it. */
const linesOf = ({ statements }: Vex): string[] =>
  statements
    .map(({ vulnerability, status, products }) =>
      [vulnerability.name, status, products[0]?.subcomponents?.map((each) => each["@id"]).join("+") ?? "image"].join(
        " ",
      ),
    )
    .sort();

test("the VEX of an image has what advisories, attached documents and trusted feeds say of what it holds", async () => {
  const place = await newRepoPlace(platform, token);
  const digest = await newImage(place, "v1", ["lodash@4.17.20", "left-pad@1.3.0", "react@18.0.0"]);
  const approved = (event: object): { events: object[] } => ({ events: [{ ...event, reviewState: "APPROVED" }] });
  const { uid } = await newAdvisory(platform, platform.organization, {
    artifactName: place.name,
    artifactType: "OCI_IMAGE",
    componentName: "lodash",
    componentType: "npm",
    aliases: ["CVE-2026-101"],
    ...approved({
      falsePositiveDetermination: { type: "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH", note: "Unused." },
    }),
  });
  for (const [fixedVersion, alias] of [
    ["1.3.0", "CVE-2026-102"],
    ["1.4.0", "CVE-2026-103"],
  ])
    await newAdvisory(platform, platform.organization, {
      artifactName: "left-pad",
      artifactType: "NPM",
      aliases: [alias],
      ...approved({ fixed: { fixedVersion } }),
    });
  // Of another image, of another ecosystem, and not approved.
  await newAdvisory(platform, platform.organization, {
    artifactName: "acme/other",
    artifactType: "OCI_IMAGE",
    aliases: ["CVE-2026-104"],
    ...approved({ fixNotPlanned: {} }),
  });
  await newAdvisory(platform, platform.organization, {
    artifactName: "react",
    artifactType: "PYPI",
    aliases: ["CVE-2026-105"],
    ...approved({ fixNotPlanned: {} }),
  });
  await newAdvisory(platform, platform.organization, {
    artifactName: "react",
    artifactType: "NPM",
    aliases: ["CVE-2026-106"],
    events: [{ fixNotPlanned: {} }],
  });
  await attach(place, digest, [
    {
      vulnerability: { name: "CVE-2026-201", aliases: ["GHSA-2345-6789-cfgh"] },
      products: [{ "@id": "pkg:npm/react@18.0.0" }, { "@id": "pkg:npm/angular@1.0.0" }],
      status: "under_investigation",
    },
    { vulnerability: { name: "CVE-2026-202" }, products: [{ "@id": "pkg:oci/any" }], status: "fixed" },
    // The group's own decision has more weight.
    {
      vulnerability: { name: "CVE-2026-101" },
      products: [{ "@id": "pkg:npm/lodash@4.17.20" }],
      status: "affected",
      action_statement: "Panic.",
    },
  ]);
  const record = (id: string, product: string, name: string): FeedRecord => {
    const statement = { status: "not_affected", impact_statement: "No." };
    const { record: made } = openVex({
      "@context": "https://openvex.dev/ns/v0.2.0",
      "@id": id,
      author: "Upstream",
      timestamp: "2026-11-02T08:00:00Z",
      statements: [{ vulnerability: { name }, products: [{ "@id": product }], ...statement }],
    });
    assert.ok(made !== undefined);
    return made;
  };
  const trusted = [
    record("https://up.example/1", "pkg:npm/react", "CVE-2026-301"),
    record("https://up.example/2", "pkg:npm/lodash", "CVE-2026-302"),
  ];
  await putRecords(platform, "upstream", "openvex", trusted, [], ["pkg:npm/react"]);
  await eventually(async () => {
    const path = `/vulnerabilities/v2/repos/${place.repo}/vex?reference=v1`;
    return JSON.stringify(await platform.ok("GET", path)).includes("CVE-2026-301");
  });

  const document = await vexOf(place, "v1");
  assert.deepEqual(linesOf(document), [
    "CVE-2026-101 not_affected pkg:npm/lodash@4.17.20",
    "CVE-2026-102 fixed pkg:npm/left-pad@1.3.0",
    "CVE-2026-103 affected pkg:npm/left-pad@1.3.0",
    "CVE-2026-201 under_investigation pkg:npm/react@18.0.0",
    "CVE-2026-202 fixed image",
    "CVE-2026-301 not_affected pkg:npm/react@18.0.0",
  ]);
  const statement = (name: string): Said | undefined =>
    document.statements.find((each) => each.vulnerability.name === name);
  assert.equal(statement("CVE-2026-101")?.justification, "vulnerable_code_not_in_execute_path");
  assert.equal(statement("CVE-2026-101")?.["@id"], `${platform.url}${ADVISORIES}/${uid}`);
  assert.equal(statement("CVE-2026-103")?.action_statement, "Update it to 1.4.0.");
  assert.deepEqual(statement("CVE-2026-201")?.vulnerability.aliases, ["GHSA-2345-6789-cfgh"]);
  assert.deepEqual([statement("CVE-2026-201")?.supplier, statement("CVE-2026-301")?.supplier], ["Acme", "Upstream"]);
  assert.equal(document.author, platform.bootstrap.organization.name);

  // The product is the image by its digest, wherever a tool says that it is.
  const [name = ""] = place.name.split("/").slice(-1);
  const at = encodeURIComponent(`${new URL(platform.url).host}/${place.name}`);
  const bare = `pkg:oci/${name}@${digest}`;
  assert.deepEqual(statement("CVE-2026-101")?.products, [
    {
      "@id": `${bare}?arch=amd64&repository_url=${at}`,
      identifiers: { purl: bare },
      hashes: { "sha-256": digest.slice("sha256:".length) },
      subcomponents: [{ "@id": "pkg:npm/lodash@4.17.20", identifiers: { purl: "pkg:npm/lodash@4.17.20" } }],
    },
  ]);
  assert.deepEqual(await vexOf(place, digest), document, "by the digest, and at every reading, it is the same");
});

test("it changes when a decision does, and when a document is taken back, with a higher version", async () => {
  const place = await newRepoPlace(platform, token);
  const digest = await newImage(place, "v1", ["moment@2.0.0"]);
  const none = await asked(place, "v1");
  assert.deepEqual([none.status, none.body.code], [400, 9], none.text);
  assert.match(none.text, /NO_STATEMENTS/);
  const { uid } = await newAdvisory(platform, platform.organization, {
    artifactName: "moment",
    artifactType: "NPM",
    aliases: ["CVE-2026-401"],
    events: [{ detection: { manual: {} }, reviewState: "APPROVED" }],
  });
  const first = await vexOf(place, "v1");
  assert.deepEqual(linesOf(first), ["CVE-2026-401 under_investigation pkg:npm/moment@2.0.0"]);
  platform.clock.offsetMs += 2_000;
  const event = await platform.ok("POST", `${ADVISORIES}/${uid}/events`, { fixNotPlanned: {} });
  assert.deepEqual(linesOf(await vexOf(place, "v1")), linesOf(first), "what is not approved decides nothing");
  await platform.ok("PATCH", `${ADVISORY_EVENTS}/${event.uid}`, { reviewState: "APPROVED" });
  const second = await vexOf(place, "v1");
  assert.deepEqual(linesOf(second), ["CVE-2026-401 affected pkg:npm/moment@2.0.0"]);
  assert.ok(second.version > first.version);
  platform.clock.offsetMs += 2_000;
  const manifest = await attach(place, digest, [
    { vulnerability: { name: "CVE-2026-402" }, products: [{ "@id": "pkg:npm/moment@2.0.0" }], status: "fixed" },
  ]);
  const third = await vexOf(place, "v1");
  assert.equal(third.statements.length, 2);
  platform.clock.offsetMs += 2_000;
  await deleteReference(place, manifest);
  // By one protocol, since it changes between two answers.
  await eventually(async () => {
    const path = `/vulnerabilities/v2/repos/${place.repo}/vex?reference=v1`;
    const { document } = await platform.ok<{ document: Vex }>("GET", path);
    return document.statements.length === 1;
  });
  assert.ok((await vexOf(place, "v1")).version > third.version);
});

test("tag@time is the digest of then, an index speaks of its images", async () => {
  const place = await newRepoPlace(platform, token);
  const old = await newImage(place, "latest", ["express@4.0.0"]);
  await wait(5);
  const then = new Date(platform.clock.nowMs()).toISOString();
  await wait(5);
  const one = await newImage(place, "one", ["express@4.1.0", "koa@1.0.0"]);
  const two = await newImage(place, "two", ["express@4.1.0", "koa@1.0.0"], "arm64");
  const index = await pushIndex(place, "latest", [
    [one, { os: "linux", architecture: "amd64" }],
    [two, { os: "linux", architecture: "arm64" }],
  ]);
  await newAdvisory(platform, platform.organization, {
    artifactName: "express",
    artifactType: "NPM",
    aliases: ["CVE-2026-501"],
    events: [{ fixNotPlanned: {}, reviewState: "APPROVED" }],
  });
  // Of one of the two images.
  await attach(place, two, [
    { vulnerability: { name: "CVE-2026-502" }, products: [{ "@id": "pkg:npm/koa@1.0.0" }], status: "fixed" },
  ]);
  const past = await vexOf(place, `latest@${then}`);
  assert.deepEqual(linesOf(past), ["CVE-2026-501 affected pkg:npm/express@4.0.0"]);
  assert.match(past.statements[0]?.products[0]?.["@id"] ?? "", new RegExp(old));
  const now = await vexOf(place, "latest");
  const digestsOf = (name: string): string[] =>
    now.statements
      .filter(({ vulnerability }) => vulnerability.name === name)
      .flatMap(({ products }) => products.map(({ hashes }) => `sha256:${hashes["sha-256"]}`));
  assert.deepEqual(digestsOf("CVE-2026-501"), [index, ...[one, two].sort()]);
  assert.deepEqual(digestsOf("CVE-2026-502"), [two], "what one image says does not excuse the other");
});

test("an image that is read between two answers has its packages in the second one", async () => {
  const place = await newRepoPlace(platform, token);
  await newAdvisory(platform, platform.organization, {
    artifactName: place.name,
    artifactType: "OCI_IMAGE",
    aliases: ["CVE-2026-701"],
    events: [{ fixNotPlanned: {}, reviewState: "APPROVED" }],
  });
  await newAdvisory(platform, platform.organization, {
    artifactName: "slow",
    artifactType: "NPM",
    aliases: ["CVE-2026-702"],
    events: [{ fixNotPlanned: {}, reviewState: "APPROVED" }],
  });
  const layer = tarOf([npmFile("app", "slow", "1.0.0")]);
  const digest = await pushLayers(place, "v1", [layer]);
  // As if it had not been read yet; whoever reads it writes tables that no cached answer depends on.
  const state = async (to: number): Promise<void> => {
    await platform.transact((tx) =>
      tx.updateTable("image_catalogs").set({ state: to }).where("digest", "=", digest).execute(),
    );
  };
  await eventually(async () => (await platform.call("GET", `${of(place, digest)}/sbom`, await owner())).status === 200);
  await state(3);
  assert.deepEqual(linesOf(await vexOf(place, "v1")), ["CVE-2026-701 affected image"]);
  await state(2);
  assert.deepEqual(linesOf(await vexOf(place, "v1")), [
    "CVE-2026-701 affected image",
    "CVE-2026-702 affected pkg:npm/slow@1.0.0",
  ]);
});

test("what is asked wrongly is named, and who may not see the repo learns nothing", async () => {
  const place = await newRepoPlace(platform, token);
  await newImage(place, "v1", ["express@4.0.0"]);
  for (const [reference, status, text] of [
    ["", 400, /reference/],
    ["a b", 400, /reference: must be a tag/],
    ["v2", 404, /v2/],
    [`sha256:${"0".repeat(64)}`, 404, /sha256/],
    ["v1@2999-01-01", 400, /reference: is a time that has not begun/],
  ] as const) {
    const answer = await asked(place, reference);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.text, text);
  }
  const artifact = await pushArtifact(place, { artifactType: "application/x", layers: [] });
  const unread = await asked(place, artifact);
  assert.match(unread.text, /IMAGE_NOT_READ/);
  const path = `/vulnerabilities/v2/repos/${place.repo}/vex?reference=v1`;
  const stranger = await platform.token(await platform.identity(platform.organization));
  const viewer = await platform.token(await platform.identity(platform.organization, "viewer"));
  assert.equal((await platform.call("GET", path)).status, 401);
  assert.equal((await platform.call("GET", path, { token: stranger })).status, 404);
  assert.equal((await platform.call("GET", path, { token: viewer })).status, 200);
  // Notes of an advisory are for those who may read it.
  await newAdvisory(platform, platform.organization, {
    artifactName: place.name,
    artifactType: "OCI_IMAGE",
    aliases: ["CVE-2026-601"],
    events: [{ fixNotPlanned: { note: "Ask Ann." }, reviewState: "APPROVED" }],
  });
  const { token: reader } = await holderOf(platform, platform.organization, [
    "CAP_REPO_LIST",
    "CAP_TAG_LIST",
    "CAP_MANIFEST_METADATA_LIST",
  ]);
  const read = await platform.call("GET", path, { token: reader });
  assert.equal(read.status, 200, read.text);
  assert.match(read.text, /CVE-2026-601/);
  assert.doesNotMatch(read.text, /Ask Ann/);
  assert.match((await platform.call("GET", path, { token: viewer })).text, /No fix is planned\. Ask Ann\./);
});
