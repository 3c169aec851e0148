import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { cycloneDx, statementOf } from "../../../server/test/support/catalog/documents.ts";
import type { Place } from "../../../server/test/support/catalog/place.ts";
import { deleteReference, pushArtifact, pushIndex } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import {
  BAD,
  CLEAN,
  type GatedRepo,
  MILD,
  openGatedRepo,
  putGateRecords,
} from "../../../server/test/support/gated-repo.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// What is attached by somebody who may push and may not write advisories: it adds, is shown, and takes nothing away.

const PULL = { on: ["PULL", "PROMOTE"], mode: "ENFORCE" };
const OPENVEX = "application/openvex+json";
const CYCLONEDX = "application/vnd.cyclonedx+json";
const IN_TOTO = "application/vnd.in-toto+json";
const IMAGE = "application/vnd.oci.image.config.v1+json";
const AMD = { os: "linux", architecture: "amd64" };
const NONE = { os: "unknown", architecture: "unknown" };

let platform: Platform;
let pusher = "";
let pushersToken = "";
let authorsToken = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putGateRecords(platform);
  const audience = new URL(platform.url).host;
  pusher = await platform.identity(platform.organization, "registry.push");
  pushersToken = await platform.token(pusher, { audience });
  const author = await platform.identity(platform.organization, "registry.push");
  const role = await platform.ok("POST", `/iam/v2/roles/${platform.organization}`, {
    name: "author",
    capabilities: ["advisories.create"],
  });
  await platform.bind(platform.organization, author, role.uid);
  authorsToken = await platform.token(author, { audience });
});
after(() => platform.close());

const VEX = JSON.stringify({
  "@context": "https://openvex.dev/ns/v0.2.0",
  "@id": "https://acme.example/vex/claim",
  author: "nobody",
  timestamp: "2026-11-01T08:00:00Z",
  version: 1,
  statements: [
    {
      vulnerability: { name: "CVE-2026-1" },
      products: [{ "@id": "pkg:npm/bad@1.0.0" }],
      status: "not_affected",
      justification: "vulnerable_code_not_in_execute_path",
      impact_statement: "It is never called.",
    },
  ],
});

interface Attachment {
  manifest: string;
  state: string;
  trusted: boolean;
  attachedBy: string;
  counts: boolean;
}

/** What is attached, once it is as wanted. */
async function attachments(
  { repo }: Place,
  digest: string,
  wanted: (found: Attachment[]) => boolean,
): Promise<Attachment[]> {
  const all = async (): Promise<Attachment[]> => {
    const answer = await platform.ok("GET", `/registry/v2/repos/${repo}/digests/${digest}/attachments`);
    return (answer["attachments"] ?? []) as Attachment[];
  };
  return await eventually(
    async () => {
      const found = await all();
      return found.every(({ state }) => state === "STATE_READ") && wanted(found) && found;
    },
    { instead: all },
  );
}
const one = (found: Attachment[]): boolean => found.length === 1;
const trusted = (found: Attachment[]): boolean => found.length === 1 && found[0]?.trusted === true;

interface Finding {
  vulnerability: string;
  state: string;
  sources: string[];
  claims: { status: string; justification: string; author: string; source: string; document: string }[];
  statement?: { author: string };
}
const findings = async ({ repo }: Place, digest: string, state = "OPEN"): Promise<Finding[]> =>
  ((await platform.ok("GET", `/vulnerabilities/v2/findings?repo=${repo}&digest=${digest}&state=${state}`))[
    "findings"
  ] ?? []) as Finding[];
const open = (): Promise<GatedRepo> => openGatedRepo(platform, PULL);
const as = (place: Place, token: string): Place => ({ ...place, token });
const vexOf = (subject: string) => ({
  artifactType: OPENVEX,
  subject,
  layers: [{ mediaType: OPENVEX, content: VEX }],
});
const promote = async ({ repo }: Place, digest: string): Promise<number> =>
  (
    await platform.call("POST", `/registry/v2/tags/${repo}:promote`, {
      token: await platform.token(),
      body: { promotions: [{ name: "prod", digest }] },
    })
  ).status;

test("a VEX document of somebody who may only push closes nothing: it stands beside the finding as a claim", async () => {
  const repo = await open();
  const digest = await repo.push("v1", BAD);
  const manifest = await pushArtifact(as(repo, pushersToken), vexOf(digest));
  const [attached] = await attachments(repo, digest, one);
  assert.deepEqual([attached?.manifest, attached?.trusted, attached?.attachedBy], [manifest, false, pusher]);
  const [finding, ...more] = await findings(repo, digest);
  assert.deepEqual([more, finding?.vulnerability, finding?.statement], [[], "CVE-2026-1", undefined]);
  const claim = finding?.claims[0];
  assert.deepEqual(
    [finding?.claims.length, claim?.status, claim?.justification, claim?.author, claim?.source],
    [1, "not_affected", "vulnerable_code_not_in_execute_path", "nobody", `${manifest}/0`],
  );
  assert.deepEqual(await findings(repo, digest, "CLOSED"), []);
  platform.clock.offsetMs += 2_000;
  assert.deepEqual([(await repo.pull("v1")).status, await promote(repo, digest)], [403, 400]);
  const vex = await platform.call("GET", `/vulnerabilities/v2/repos/${repo.repo}/vex?reference=v1`, {
    token: await platform.token(),
  });
  assert.equal(vex.status, 400, `it is not said again in the server's name: ${vex.text}`);
});

test("who may write advisories vouches for what is attached by attaching it, again if need be, and the finding is closed", async () => {
  const repo = await open();
  const digest = await repo.push("v1", BAD);
  await pushArtifact(as(repo, pushersToken), vexOf(digest));
  await attachments(repo, digest, one);
  assert.equal((await findings(repo, digest)).length, 1);
  const beforeMs = Date.now();
  await wait(5);
  const manifest = await pushArtifact(as(repo, authorsToken), vexOf(digest));
  await attachments(repo, digest, trusted);
  await repo.pulledAs("v1", 200);
  const [closed] = await findings(repo, digest, "CLOSED");
  assert.deepEqual([closed?.vulnerability, closed?.statement?.author, closed?.claims], ["CVE-2026-1", "nobody", []]);
  const then = `asOf=${new Date(beforeMs).toISOString()}`;
  const asOf = await platform.ok("GET", `/vulnerabilities/v2/findings?repo=${repo.repo}&digest=${digest}&${then}`);
  assert.equal((asOf["findings"] as Finding[]).length, 1, "nobody vouched for it then");
  // Nobody takes that back by pushing the same.
  await pushArtifact(as(repo, pushersToken), vexOf(digest));
  platform.clock.offsetMs += 2_000;
  assert.equal((await repo.pull("v1")).status, 200);
  await deleteReference(repo, manifest);
  await repo.pulledAs("v1", 403);
  // What was deleted is on the word of whoever pushes it next.
  await pushArtifact(as(repo, pushersToken), vexOf(digest));
  await attachments(repo, digest, (found) => one(found) && found[0]?.trusted === false);
  platform.clock.offsetMs += 2_000;
  assert.equal((await repo.pull("v1")).status, 403);
});

test("an SBOM of one harmless package takes nothing away of what was read from the layers, whoever attached it", async () => {
  const repo = await open();
  const digest = await repo.push("v1", BAD);
  const sbom = (token: string): Promise<string> =>
    pushArtifact(as(repo, token), {
      artifactType: CYCLONEDX,
      subject: digest,
      layers: [{ mediaType: CYCLONEDX, content: cycloneDx(["clean"]) }],
    });
  const claim = await sbom(pushersToken);
  await attachments(repo, digest, one);
  const [finding] = await findings(repo, digest);
  assert.deepEqual([finding?.vulnerability, finding?.sources], ["CVE-2026-1", ["layers"]]);
  const raw = await platform.ok("GET", `/registry/v2/repos/${repo.repo}/digests/${digest}/rawSbom`);
  assert.equal(raw["source"], `${claim}/0`, "as it was attached, it is answered all the same");
  platform.clock.offsetMs += 2_000;
  assert.equal((await repo.pull("v1")).status, 403);
  const { document, sources } = await platform.ok<{ document: { components: { name: string }[] }; sources: string[] }>(
    "GET",
    `/registry/v2/repos/${repo.repo}/digests/${digest}/sbom`,
  );
  assert.deepEqual(document.components.map(({ name }) => name).sort(), ["bad", "clean"]);
  assert.equal(sources.length, 2);
  await sbom(authorsToken);
  await attachments(repo, digest, trusted);
  platform.clock.offsetMs += 2_000;
  assert.deepEqual([(await repo.pull("v1")).status, (await findings(repo, digest)).length], [403, 1]);
  // What is not there is said by a statement.
  await pushArtifact(as(repo, authorsToken), vexOf(digest));
  await repo.pulledAs("v1", 200);
});

test("sources that name a package in different versions both stand, and each answer says who contradicts whom", async () => {
  const repo = await open();
  const digest = await repo.push("v1", BAD, CLEAN);
  const [component] = (JSON.parse(cycloneDx(["bad"])) as { components: object[] }).components;
  const newer = { ...component, version: "2.0.0", purl: "pkg:npm/bad@2.0.0" };
  const manifest = await pushArtifact(as(repo, authorsToken), {
    artifactType: CYCLONEDX,
    subject: digest,
    layers: [{ mediaType: CYCLONEDX, content: cycloneDx(["clean"], { components: [component && newer] }) }],
  });
  await attachments(repo, digest, trusted);
  platform.clock.offsetMs += 2_000;
  assert.equal((await repo.pull("v1")).status, 403);
  const source = `${manifest}/0`;
  const [finding] = (await findings(repo, digest)) as (Finding & { contradictions: unknown })[];
  assert.deepEqual([finding?.sources, finding?.contradictions], [["layers"], [{ source, versions: ["2.0.0"] }]]);
  const sbom = `/registry/v2/repos/${repo.repo}/digests/${digest}/sbom`;
  const answer = await platform.ok("GET", sbom);
  assert.deepEqual(answer["contradictions"], [
    {
      purl: "pkg:npm/bad@1.0.0",
      version: "1.0.0",
      sources: ["layers"],
      contradictedBy: [{ source, versions: ["2.0.0"] }],
    },
    {
      purl: "pkg:npm/bad@2.0.0",
      version: "2.0.0",
      sources: [source],
      contradictedBy: [{ source: "layers", versions: ["1.0.0"] }],
    },
  ]);
  assert.equal(answer["contradictionsTotal"], 2);
  const { components } = answer["document"] as unknown as {
    components: { purl: string; properties: { name: string; value: string }[] }[];
  };
  const said = components.map(({ purl, properties }) => [
    purl,
    ...properties.filter(({ name }) => /said-by|contradicted/.test(name)).map(({ value }) => value),
  ]);
  assert.deepEqual(said, [
    ["pkg:npm/bad@1.0.0", "layers", `${source} 2.0.0`],
    ["pkg:npm/bad@2.0.0", source, "layers 1.0.0"],
    ["pkg:npm/clean@1.0.0", "layers"],
  ]);
  const spdx = await platform.ok("GET", `${sbom}?format=SPDX`);
  assert.match(JSON.stringify(spdx["document"]), /said by layers; contradicted by sha256:[a-f0-9]+\/0: 2\.0\.0/);
});

test("what an SBOM of anybody names is added: a vulnerable package counts, with the source that names it", async () => {
  const repo = await open();
  const digest = await repo.push("v1", CLEAN);
  assert.equal((await repo.pull("v1")).status, 200);
  const manifest = await pushArtifact(as(repo, pushersToken), {
    artifactType: CYCLONEDX,
    subject: digest,
    layers: [{ mediaType: CYCLONEDX, content: cycloneDx(["bad", "clean"]) }],
  });
  const [attached] = await attachments(repo, digest, one);
  assert.deepEqual([attached?.trusted, attached?.counts], [false, true]);
  await repo.pulledAs("v1", 403);
  const [finding, ...more] = await findings(repo, digest);
  assert.deepEqual([more, finding?.vulnerability, finding?.sources], [[], "CVE-2026-1", [`${manifest}/0`]]);
  const both = await repo.push("v2", BAD, MILD);
  await pushArtifact(as(repo, pushersToken), {
    artifactType: CYCLONEDX,
    subject: both,
    layers: [{ mediaType: CYCLONEDX, content: cycloneDx(["bad"]) }],
  });
  await attachments(repo, both, one);
  const sources = (await findings(repo, both)).map((each) => [each.vulnerability, each.sources.length]);
  assert.deepEqual(sources.sort(), [
    ["CVE-2026-1", 2],
    ["CVE-2026-2", 1],
  ]);
});

test("an SBOM of anybody makes nothing known of an image that could not be read; one of an author does", async () => {
  const repo = await open();
  const digest = await pushArtifact(repo, {
    reference: "v1",
    config: { mediaType: IMAGE, content: '{"architecture": "amd64", "os": "linux"}' },
    layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", content: "no archive" }],
  });
  await repo.pulledAs("v1", 403);
  const sbom = {
    artifactType: CYCLONEDX,
    subject: digest,
    layers: [{ mediaType: CYCLONEDX, content: cycloneDx(["clean"]) }],
  };
  await pushArtifact(as(repo, pushersToken), sbom);
  await attachments(repo, digest, one);
  platform.clock.offsetMs += 2_000;
  assert.match((await repo.pull("v1")).text, /could not be read/);
  await pushArtifact(as(repo, authorsToken), sbom);
  await repo.pulledAs("v1", 200);
});

test("by a tag of cosign's, who moved the tag is asked; in an index, who pushed the index", async () => {
  const repo = await open();
  const tagged = await repo.push("tagged", BAD);
  const attach = (token: string, content: string): Promise<string> =>
    pushArtifact(as(repo, token), {
      reference: `${tagged.replace(":", "-")}.att`,
      config: { mediaType: IMAGE, content: "{}" },
      layers: [{ mediaType: IN_TOTO, content }],
    });
  const statement = statementOf("https://openvex.dev/ns", VEX, tagged);
  await attach(pushersToken, statement);
  await attachments(repo, tagged, (found) => one(found) && found[0]?.attachedBy === pusher);
  assert.equal((await findings(repo, tagged)).length, 1);
  await attach(authorsToken, statement);
  await attachments(repo, tagged, trusted);
  await repo.pulledAs("tagged", 200);
  await attach(pushersToken, statementOf("https://openvex.dev/ns/v0.2.0", VEX, tagged));
  await attachments(repo, tagged, (found) => one(found) && found[0]?.trusted === false);
  await repo.pulledAs("tagged", 403);

  const indexed = await repo.push("indexed", BAD);
  const attestation = await pushArtifact(as(repo, authorsToken), {
    config: { mediaType: IMAGE, content: "{}" },
    layers: [{ mediaType: IN_TOTO, content: statementOf("https://openvex.dev/ns", VEX, indexed) }],
  });
  const notes = { "vnd.docker.reference.type": "attestation-manifest", "vnd.docker.reference.digest": indexed };
  const index = (token: string): Promise<string> =>
    pushIndex(as(repo, token), "index", [
      [indexed, AMD],
      [attestation, NONE, notes],
    ]);
  await index(pushersToken);
  await attachments(repo, indexed, (found) => one(found) && found[0]?.attachedBy === pusher);
  assert.deepEqual([(await findings(repo, indexed)).length, (await repo.pull("index")).status], [1, 403]);
  await index(authorsToken);
  await attachments(repo, indexed, trusted);
  await repo.pulledAs("index", 200);
});

test("what was attached before it was noted who did is a claim, until it is attached again", async () => {
  const repo = await open();
  const digest = await repo.push("v1", BAD);
  const manifest = await pushArtifact(repo, vexOf(digest));
  await attachments(repo, digest, trusted);
  await repo.pulledAs("v1", 200);
  // As the migration leaves it.
  await platform.transact(async (tx) => {
    await tx.updateTable("manifests").set({ pushed_by: "", may_advise: 0 }).where("digest", "=", manifest).execute();
    await tx.updateTable("attachments").set({ attached_by: "", trusted: 0 }).where("manifest", "=", manifest).execute();
  });
  platform.clock.offsetMs += 61_000;
  await repo.pulledAs("v1", 403);
  assert.equal((await findings(repo, digest))[0]?.claims.length, 1);
  await pushArtifact(repo, vexOf(digest));
  await repo.pulledAs("v1", 200);
});

test("it stays trusted when who attached it loses the right later, as what was approved stays", async () => {
  const repo = await open();
  const digest = await repo.push("v1", BAD);
  const leaver = await platform.identity(platform.organization, "registry.push");
  const { uid: role } = await platform.ok("POST", `/iam/v2/roles/${platform.organization}`, {
    name: "leaving-author",
    capabilities: ["advisories.create"],
  });
  const binding = await platform.bind(platform.organization, leaver, role);
  const leaversToken = await platform.token(leaver, { audience: new URL(platform.url).host });
  await pushArtifact(as(repo, leaversToken), vexOf(digest));
  await attachments(repo, digest, trusted);
  await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
  platform.clock.offsetMs += 61_000;
  await repo.pulledAs("v1", 200);
  await pushArtifact(as(repo, leaversToken), { ...vexOf(digest), config: { mediaType: IMAGE, content: "{}" } });
  const found = await attachments(repo, digest, (all) => all.length === 2);
  assert.deepEqual(found.map((each) => each.trusted).sort(), [false, true]);
});

test("nobody pushes out what is trusted by attaching more", async () => {
  const repo = await open();
  const digest = await repo.push("v1", CLEAN);
  await pushArtifact(as(repo, authorsToken), {
    artifactType: CYCLONEDX,
    subject: digest,
    layers: [{ mediaType: CYCLONEDX, content: cycloneDx(["bad", "clean"]) }],
  });
  await attachments(repo, digest, trusted);
  await repo.pulledAs("v1", 403);
  const layers = [{ mediaType: CYCLONEDX, content: cycloneDx(["clean"]) }];
  const first = await pushArtifact(as(repo, pushersToken), { artifactType: CYCLONEDX, subject: digest, layers });
  const path = `/v2/${repo.name}/manifests/`;
  const manifest = (await platform.call("GET", `${path}${first}`, { token: pushersToken })).body;
  const headers = { "content-type": "application/vnd.oci.image.manifest.v1+json" };
  for (let n = 0; n < 100; n += 1) {
    const raw = JSON.stringify({ ...manifest, annotations: { n: String(n) } });
    const reference = `sha256:${createHash("sha256").update(raw).digest("hex")}`;
    const { status, text } = await platform.call("PUT", `${path}${reference}`, { token: pushersToken, raw, headers });
    assert.equal(status, 201, text);
  }
  const found = await attachments(repo, digest, (all) => all.length === 100);
  assert.equal(found.filter((each) => each.trusted).length, 1);
  platform.clock.offsetMs += 2_000;
  assert.match((await repo.pull("v1")).text, /CVE-2026-1/);
});
