import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { loadConfig } from "../../../server/src/index.ts";
import { removeUnusedAttachments } from "../../src/security/attached/remove.ts";
import { openStore } from "../../../kernel/src/store/index.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { bundle, cycloneDx, dsse, spdx, statementOf } from "../../../server/test/support/catalog/documents.ts";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import {
  type Artifact,
  deleteReference,
  type IndexEntry,
  pushArtifact,
  pushIndex,
  pushLayers,
} from "../../../server/test/support/catalog/push.ts";
import { openComposition } from "../../../server/test/support/composition.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { temporaryFolder } from "../../../server/test/support/installation.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { startReplicas } from "../../../server/test/support/replicas.ts";

const CYCLONEDX = "application/vnd.cyclonedx+json";
const SPDX = "application/spdx+json";
const IN_TOTO = "application/vnd.in-toto+json";
const DSSE = "application/vnd.dsse.envelope.v1+json";
const BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const CYCLONEDX_PREDICATE = "https://cyclonedx.org/bom";
const SPDX_PREDICATE = "https://spdx.dev/Document";

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
});
after(() => platform.close());

const newPlace = (): Promise<Place> => newRepoPlace(platform, token);

interface Attachment {
  manifest: string;
  source?: string;
  kind?: string;
  state: string;
  reason?: string;
  packages?: number;
  counts?: boolean;
}

async function get(place: Place, digest: string, path: string, ofToken?: string): Promise<Answer> {
  return await platform.call("GET", `/registry/v2/repos/${place.repo}/digests/${digest}/${path}`, {
    token: ofToken ?? (await platform.token()),
  });
}

/** What is attached, as soon as it is as many and none of it waits. */
async function attachments(place: Place, digest: string, count: number): Promise<Attachment[]> {
  const all = async (): Promise<Attachment[]> => {
    const { status, body, text } = await get(place, digest, "attachments");
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

interface Held {
  names: string[];
  sources: string[];
}

/** The names of the packages that the SBOM has, and its sources. */
async function sbom(place: Place, digest: string, query = ""): Promise<Held> {
  return await eventually(async () => {
    const { status, body, text } = await get(place, digest, `sbom${query}`);
    if (status === 200) {
      const { components = [] } = body["document"] as { components?: { name: string }[] };
      return { names: components.map(({ name }) => name), sources: body["sources"] as string[] };
    }
    assert.match(text, /waits to be read/);
    return undefined;
  });
}

let images = 0;

/** A new image, which holds the package `inside`. */
async function image(place: Place): Promise<string> {
  const marker = { path: `marker-${(images += 1)}` };
  return await pushLayers(place, `v${images}`, [tarOf([npmFile("app", "inside", "1.0.0"), marker])]);
}

const oneLayer = (mediaType: string, content: string, more: Partial<Artifact> = {}): Artifact => ({
  artifactType: mediaType,
  layers: [{ mediaType, content }],
  ...more,
});

test("an SBOM that is attached is added to what the layers hold, and goes when it is deleted", async () => {
  const place = await newPlace();
  const subject = await image(place);
  assert.deepEqual(await sbom(place, subject), { names: ["inside"], sources: ["layers"] });
  const document = cycloneDx(["stated", "@scope/other"]);
  const manifest = await pushArtifact(place, oneLayer(CYCLONEDX, document, { subject }));
  const source = `${manifest}/0`;
  const [found] = await attachments(place, subject, 1);
  assert.deepEqual(
    [found?.manifest, found?.source, found?.kind, found?.state, found?.packages, found?.counts],
    [manifest, source, "cyclonedx", "STATE_READ", 2, true],
  );
  assert.deepEqual(await sbom(place, subject), {
    names: ["@scope/other", "inside", "stated"],
    sources: [source, "layers"],
  });
  assert.deepEqual(await sbom(place, subject, "?source=layers"), { names: ["inside"], sources: ["layers"] });
  assert.deepEqual((await sbom(place, subject, `?source=${encodeURIComponent(source)}`)).sources, [source]);
  const unknown = await get(place, subject, "sbom?source=nobody");
  assert.equal(unknown.status, 400);
  assert.match(unknown.text, new RegExp(`source: must be one of ${source}, layers`));
  const raw = await get(place, subject, "rawSbom");
  assert.equal(Buffer.from(String(raw.body["content"]), "base64").toString(), document);
  assert.deepEqual([raw.body["mediaType"], raw.body["source"]], [CYCLONEDX, source]);

  await deleteReference(place, manifest);
  await attachments(place, subject, 0);
  assert.deepEqual(await sbom(place, subject), { names: ["inside"], sources: ["layers"] });
  assert.match((await get(place, subject, "rawSbom")).text, /read from the layers/);
});

test("a package that the layers and a document name is one, with what either says of it", async () => {
  const place = await newPlace();
  const subject = await pushLayers(place, "licensed", [
    tarOf([
      { path: "app/node_modules/both/package.json", content: '{"name":"both","version":"1.0.0","license":"MIT"}' },
    ]),
  ]);
  await sbom(place, subject);
  await pushArtifact(place, oneLayer(CYCLONEDX, cycloneDx(["both"]), { subject }));
  await attachments(place, subject, 1);
  const { body } = await get(place, subject, "sbom");
  const { components } = body["document"] as { components: { name: string; licenses?: unknown }[] };
  assert.deepEqual(
    components.map(({ name, licenses }) => [name, JSON.stringify(licenses)]),
    [["both", '[{"license":{"id":"MIT"}}]']],
  );
});

test("every form of envelope is read, and so are both formats", async () => {
  const place = await newPlace();
  const forms: readonly [type: string, content: (subject: string) => string][] = [
    [SPDX, () => spdx(["stated"])],
    [IN_TOTO, (subject) => statementOf(SPDX_PREDICATE, spdx(["stated"]), subject)],
    [DSSE, (subject) => dsse(statementOf(CYCLONEDX_PREDICATE, cycloneDx(["stated"]), subject))],
    [BUNDLE, (subject) => bundle(statementOf(`${CYCLONEDX_PREDICATE}/v1.5`, cycloneDx(["stated"]), subject))],
  ];
  for (const [type, contentOf] of forms) {
    const subject = await image(place);
    await pushArtifact(place, oneLayer(type, contentOf(subject), { subject }));
    const [found] = await attachments(place, subject, 1);
    assert.equal(found?.state, "STATE_READ", `${type}: ${found?.reason}`);
    assert.deepEqual((await sbom(place, subject)).names, ["inside", "stated"], type);
  }
});

test("the tags of cosign attach, and moving or deleting them takes that back", async () => {
  const place = await newPlace();
  const subject = await image(place);
  const tag = subject.replace(":", "-");
  // As `cosign attach sbom` does.
  await pushArtifact(place, { reference: `${tag}.sbom`, layers: [{ mediaType: SPDX, content: spdx(["first"]) }] });
  await attachments(place, subject, 1);
  assert.deepEqual((await sbom(place, subject)).names, ["first", "inside"]);
  await pushArtifact(place, { reference: `${tag}.sbom`, layers: [{ mediaType: SPDX, content: spdx(["second"]) }] });
  await eventually(async () => (await sbom(place, subject)).names.includes("second"));
  assert.deepEqual((await sbom(place, subject)).names, ["inside", "second"]);
  // As `cosign attest` does: a layer for each attestation, those of other kinds included.
  const attested = (document: string): string => dsse(statementOf(SPDX_PREDICATE, document, subject));
  const provenance = dsse(statementOf("https://slsa.dev/provenance/v1", "{}", subject));
  const manifest = await pushArtifact(place, {
    reference: `${tag}.att`,
    layers: [
      { mediaType: DSSE, content: provenance, annotations: { predicateType: "https://slsa.dev/provenance/v1" } },
      { mediaType: DSSE, content: provenance },
      { mediaType: DSSE, content: attested(spdx(["third"])), annotations: { predicateType: SPDX_PREDICATE } },
    ],
  });
  const [found] = await attachments(place, subject, 2);
  assert.deepEqual([found?.source, found?.counts], [`${manifest}/2`, true]);
  assert.deepEqual((await sbom(place, subject)).names, ["inside", "third"]);
  await deleteReference(place, `${tag}.att`);
  await attachments(place, subject, 1);
  await deleteReference(place, `${tag}.sbom`);
  await attachments(place, subject, 0);
  assert.deepEqual((await sbom(place, subject)).names, ["inside"]);
});

test("each image of an index has its own, by BuildKit's attestations; what is attached to the index counts for it", async () => {
  const place = await newPlace();
  const subjects = [await image(place), await image(place)];
  const statements = subjects.map((subject, n) => statementOf(SPDX_PREDICATE, spdx([`of-${n}`, "common"]), subject));
  const attestations: string[] = [];
  for (const content of statements)
    attestations.push(
      await pushArtifact(place, {
        config: {
          mediaType: "application/vnd.oci.image.config.v1+json",
          content: `{"architecture":"unknown","os":"unknown"}`,
        },
        layers: [{ mediaType: IN_TOTO, content, annotations: { "in-toto.io/predicate-type": SPDX_PREDICATE } }],
      }),
    );
  const index = await pushIndex(place, "index", [
    ...subjects.map((digest, n): IndexEntry => [digest, { os: "linux", architecture: n === 0 ? "amd64" : "arm64" }]),
    ...attestations.map((digest, n): IndexEntry => {
      const attested = subjects[n] ?? "";
      return [
        digest,
        { os: "unknown", architecture: "unknown" },
        { "vnd.docker.reference.type": "attestation-manifest", "vnd.docker.reference.digest": attested },
      ];
    }),
  ]);
  for (const subject of subjects) await attachments(place, subject, 1);
  const both = await sbom(place, index);
  assert.deepEqual(both.names, ["common", "inside", "of-0", "of-1"]);
  assert.deepEqual(both.sources.toSorted(), ["layers", ...attestations.map((digest) => `${digest}/0`)].toSorted());
  assert.deepEqual((await sbom(place, index, "?architecture=arm64")).names, ["common", "inside", "of-1"]);
  assert.match((await get(place, index, "rawSbom")).text, /architecture: must name one image/);
  assert.equal((await get(place, index, "rawSbom?architecture=amd64")).body["source"], `${attestations[0]}/0`);

  const whole = await pushArtifact(place, oneLayer(CYCLONEDX, cycloneDx(["whole"]), { subject: index }));
  await attachments(place, index, 1);
  const all = await sbom(place, index);
  assert.deepEqual(all.names, ["common", "inside", "of-0", "of-1", "whole"]);
  assert.equal(all.sources.at(-1), `${whole}/0`);
  assert.deepEqual((await sbom(place, index, "?architecture=amd64")).names, ["common", "inside", "of-0"]);
  await deleteReference(place, index);
  for (const subject of subjects) await attachments(place, subject, 0);
});

test("what is attached in one repo says nothing about the same image in another", async () => {
  const [one, two] = [await newPlace(), await newPlace()];
  const layer = tarOf([npmFile("app", "inside", "1.0.0"), { path: "shared" }]);
  const subject = await pushLayers(one, "v1", [layer]);
  assert.equal(await pushLayers(two, "v1", [layer]), subject);
  const manifest = await pushArtifact(one, oneLayer(SPDX, spdx(["stated"]), { subject }));
  await attachments(one, subject, 1);
  assert.deepEqual((await sbom(one, subject)).names, ["inside", "stated"]);
  assert.deepEqual((await sbom(two, subject)).names, ["inside"]);
  await attachments(two, subject, 0);
  const other = await get(two, subject, `sbom?source=${encodeURIComponent(`${manifest}/0`)}`);
  assert.equal(other.status, 400, other.text);
});

test("a diff compares what counts", async () => {
  const place = await newPlace();
  const [from, to] = [await image(place), await image(place)];
  await sbom(place, from);
  const manifest = await pushArtifact(place, oneLayer(SPDX, spdx(["stated"]), { subject: to }));
  await attachments(place, to, 1);
  const diff = await platform.ok("GET", `/registry/v2/repos/${place.repo}/diff?from=${from}&to=${to}`);
  const [compared] = diff["platforms"] as { from: object; to: object }[];
  const sourceOf = (side: object = {}): unknown => (side as { packagesSource?: string }).packagesSource;
  assert.deepEqual([sourceOf(compared?.from), sourceOf(compared?.to)], ["layers", `${manifest}/0`]);
  const packages = diff["packages"] as { kind: string; name: string }[];
  assert.deepEqual(packages.map(({ kind, name }) => `${kind} ${name}`).sort(), ["CHANGE_KIND_ADDED stated"]);
});

test("of several SBOMs the last attached counts", async () => {
  const place = await newPlace();
  const subject = await image(place);
  for (const name of ["first", "second"]) {
    await pushArtifact(place, oneLayer(SPDX, spdx([name]), { subject }));
    await attachments(place, subject, name === "first" ? 1 : 2);
    assert.deepEqual((await sbom(place, subject)).names, ["inside", name].sort());
  }
});

test("what must not count is rejected with a reason, and the layers count", async () => {
  const place = await newPlace();
  const subject = await image(place);
  const elsewhere = `sha256:${"0".repeat(64)}`;
  const cases: readonly [type: string, content: string, reason: RegExp][] = [
    [IN_TOTO, statementOf(SPDX_PREDICATE, spdx(["stated"]), elsewhere), /subject: the statement is not about sha256:/],
    [BUNDLE, bundle(statementOf(SPDX_PREDICATE, spdx(["stated"]), elsewhere)), /subject: the statement is not about/],
    [IN_TOTO, statementOf(CYCLONEDX_PREDICATE, spdx(["stated"]), subject), /not a document of cyclonedx/],
    [DSSE, dsse(spdx(["stated"])), /payload: is no in-toto statement/],
    [CYCLONEDX, "no JSON", /cannot be read as JSON/],
    [CYCLONEDX, `${'{"components":['.repeat(40)}${"]}".repeat(40)}`, /nested too deeply/],
    [CYCLONEDX, cycloneDx(["stated"], { specVersion: "1.1" }), /specVersion: must be one of/],
    [CYCLONEDX, cycloneDx([], { components: "all" }), /components: must be a list/],
    [SPDX, spdx(["stated"], { spdxVersion: "SPDX-3.0" }), /spdxVersion: must be one of/],
    [SPDX, spdx([]), /names no package with a purl/],
    [SPDX, "{}", /not a document of a format that is read/],
    ["application/vnd.cyclonedx+xml", "<bom/>", /is not read: attach it as JSON/],
    [SPDX, `{"packages":[${"0,".repeat(4_000_001)}0]}`, /too many values/],
  ];
  for (const [type, content] of cases) await pushArtifact(place, oneLayer(type, content, { subject }));
  const found = await attachments(place, subject, cases.length);
  const reasons = found.map(({ state, reason = "" }) => (state === "STATE_REJECTED" ? reason : state));
  for (const [type, , reason] of cases)
    assert.ok(
      reasons.some((each) => reason.test(each)),
      `${type}: ${reason}: ${reasons.join("\n")}`,
    );
  assert.deepEqual((await sbom(place, subject)).names, ["inside"]);
  // What is no document at all is not among the attachments.
  const signature = { mediaType: "application/vnd.dev.cosign.simplesigning.v1+json", content: "{}" };
  await pushArtifact(place, { reference: `${subject.replace(":", "-")}.sig`, layers: [signature] });
  await pushArtifact(place, { artifactType: "application/vnd.example.report", subject, layers: [signature] });
});

test("a document of 200 MB ends with a reason, and what is attached after it is read", async () => {
  const place = await newPlace();
  const subject = await image(place);
  const content = Buffer.alloc(200_000_000, " ");
  await pushArtifact(place, { artifactType: SPDX, subject, layers: [{ mediaType: SPDX, content }] });
  await pushArtifact(place, oneLayer(SPDX, spdx(["stated"]), { subject }));
  const found = await attachments(place, subject, 2);
  const rejected = found.find(({ state }) => state === "STATE_REJECTED");
  assert.match(rejected?.reason ?? "", /has 200000000 bytes, more than 67108864/);
  assert.deepEqual((await sbom(place, subject)).names, ["inside", "stated"]);
});

test("packages match as those of the layers do: purls, sources and distributions have the same form", async () => {
  const place = await newPlace();
  const subject = await image(place);
  const library = (purl: string, properties: Record<string, string> = {}): object => ({
    type: "library",
    name: "stated",
    purl,
    properties: Object.entries(properties).map(([name, value]) => ({ name, value })),
  });
  const components = [
    { type: "operating-system", name: "debian", version: "12" },
    { type: "container", name: "image", purl: "pkg:oci/app@sha256:00" },
    library("pkg:deb/debian/libssl3@3.0.11-1?arch=amd64&upstream=openssl%403.0.10&distro=debian-12.5"),
    library("pkg:deb/debian/bash@5.2?arch=amd64", { "aquasecurity:trivy:SrcName": "bash-src" }),
    library(
      "pkg:rpm/redhat/zlib@1.2.11-1.el9?arch=x86_64&epoch=2&distro=redhat-9.2&upstream=zlib-1.2.11-1.el9.src.rpm",
    ),
    library("pkg:apk/alpine/musl@1.2.4?distro=3.18.4", { "syft:metadata:originPackage": "musl-src" }),
    library("pkg:pypi/Some_Package@1.0"),
    library("pkg:maven/org.example/thing@2.0?type=jar"),
    { ...library("pkg:npm/left-out@1.0.0"), scope: "excluded" },
    { ...library("pkg:npm/outer@1.0.0"), components: [library("pkg:npm/inner@1.0.0")] },
    library("no purl"),
  ];
  await pushArtifact(place, oneLayer(CYCLONEDX, cycloneDx([], { components }), { subject }));
  const [found] = await attachments(place, subject, 1);
  assert.equal(found?.reason ?? "", "");
  const rows = await platform.reader
    .selectFrom("image_packages as i")
    .innerJoin("packages as p", "p.id", "i.package")
    .select(["p.purl", "p.ecosystem", "p.name", "p.version", "p.source_name", "p.source_version"])
    .where("i.digest", "=", subject)
    .where("i.source", "=", found?.source ?? "")
    .execute();
  assert.deepEqual(rows.map((row) => Object.values(row).join(" ")).sort(), [
    "pkg:apk/alpine/musl@1.2.4?distro=alpine-3.18.4 apk/alpine-3.18.4 musl 1.2.4 musl-src 1.2.4",
    "pkg:deb/debian/bash@5.2?arch=amd64&distro=debian-12 deb/debian-12 bash 5.2 bash-src 5.2",
    "pkg:deb/debian/libssl3@3.0.11-1?arch=amd64&distro=debian-12 deb/debian-12 libssl3 3.0.11-1 openssl 3.0.10",
    "pkg:maven/org.example/thing@2.0 maven org.example:thing 2.0 org.example:thing 2.0",
    "pkg:npm/inner@1.0.0 npm inner 1.0.0 inner 1.0.0",
    "pkg:npm/outer@1.0.0 npm outer 1.0.0 outer 1.0.0",
    "pkg:pypi/some-package@1.0 pypi some-package 1.0 some-package 1.0",
    "pkg:rpm/redhat/zlib@1.2.11-1.el9?arch=x86_64&distro=rhel-9.2&epoch=2 rpm/rhel-9.2 zlib 2:1.2.11-1.el9 zlib 1.2.11-1.el9",
  ]);
});

test("who may not see the repo gets NOT_FOUND", async () => {
  const place = await newPlace();
  const subject = await image(place);
  const stranger = await platform.token(await platform.identity(platform.organization));
  for (const path of ["attachments", "rawSbom", "sbom"])
    assert.equal((await get(place, subject, path, stranger)).status, 404, path);
  assert.equal((await get(place, `sha256:${"1".repeat(64)}`, "attachments")).status, 404);
});

test("what was read goes with the image, and what removed manifests leave is found", async (t) => {
  const server = await openComposition(temporaryFolder(t), { MOORAGE_CATALOG_IMAGES: "1" });
  await using _server = server;
  await server.start();
  const { bootstrap } = server.installation;
  const { config, store, transactor, access } = server;
  const minted = await access.tokens.mint({
    type: "access",
    identity: bootstrap.identity.uid,
    audiences: [new URL(config.baseUrl).host],
    ttlMs: 600_000,
    nowMs: Date.now(),
  });
  const place = { url: config.baseUrl, token: minted.token, name: `${bootstrap.organization.name}/app` };
  const subject = await pushLayers(place, "v1", [tarOf([npmFile("app", "inside", "1.0.0")])]);
  const manifest = await pushArtifact(place, oneLayer(SPDX, spdx(["stated"]), { subject }));
  const until = async (
    table: "attached_documents" | "attachments",
    isDone: (rows: { until_time?: number | null }[]) => boolean,
  ): Promise<void> => {
    await eventually(async () => {
      const rows = await store.reader.selectFrom(table).selectAll().execute();
      return isDone(rows as { until_time?: number | null }[]);
    });
  };
  await until("attached_documents", (rows) => rows.length === 1);
  const cleaned = (): Promise<{ attachments: number }> =>
    removeUnusedAttachments({ transactor, data: systemCall(Date.now()) }, new AbortController().signal);
  // As if the manifest was removed by something that did not say so.
  await store.transact((tx) => tx.deleteFrom("manifests").where("digest", "=", manifest).execute());
  assert.deepEqual(await cleaned(), { attachments: 0 });
  await until("attachments", (rows) => rows.every(({ until_time: time }) => time !== null));
  assert.deepEqual(await cleaned(), { attachments: 0 }, "an image keeps what was known about it");
  await deleteReference(place, subject);
  assert.deepEqual(await cleaned(), { attachments: 1 });
  for (const table of ["attachments", "attached_readings", "attached_documents"] as const)
    assert.deepEqual(await store.reader.selectFrom(table).selectAll().execute(), [], table);
  const left = await store.reader.selectFrom("image_packages").select("source").execute();
  assert.deepEqual(
    left.filter(({ source }) => source !== "layers"),
    [],
  );
});

test("a killed server leaves nothing half-read: the end is that of a run without kills", async (t) => {
  const { registry, url, bootstrap, env, replace } = await startReplicas(t, 1, { MOORAGE_CATALOG_IMAGES: "1" });
  const place = { url, token: registry, name: `${bootstrap.organization.name}/app` };
  const subject = await pushLayers(place, "v1", [tarOf([npmFile("app", "inside", "1.0.0")])]);
  const names = Array.from({ length: 8_000 }, (_, n) => `package-${n}`);
  const manifest = await pushArtifact(place, oneLayer(CYCLONEDX, cycloneDx(names), { subject }));
  const store = await openStore(loadConfig(env));
  t.after(() => store.close());
  const until = async (isWanted: (row: { attempts: number; state: number }) => boolean): Promise<void> => {
    await eventually(async () => {
      const row = await store.reader.selectFrom("attached_readings").selectAll().executeTakeFirst();
      return row !== undefined && isWanted(row);
    });
  };
  // In the middle of the reading or of the writing.
  await until(({ attempts }) => attempts === 1);
  await replace(0);
  await until(({ state }) => state === 2);
  const rows = await store.reader
    .selectFrom("image_packages")
    .select(["n", "package"])
    .where("digest", "=", subject)
    .where("source", "=", `${manifest}/0`)
    .orderBy("n")
    .execute();
  assert.deepEqual(
    rows.map(({ n }) => Number(n)),
    names.map((_, n) => n),
  );
  assert.equal(new Set(rows.map((row) => row.package)).size, 8_000);
});
