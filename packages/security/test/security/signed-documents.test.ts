// SBOMs and VEX documents of which a policy asks that certain signers have signed them: what counts, and what is listed
// as not counted.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cycloneDx } from "../../../server/test/support/catalog/documents.ts";
import type { Place } from "../../../server/test/support/catalog/place.ts";
import { type Artifact, pushArtifact, pushIndex } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { sized } from "../../../server/test/support/extent.ts";
import { BAD, CLEAN, openGatedRepo, putGateRecords } from "../../../server/test/support/gated-repo.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import {
  BUNDLE,
  cosignLayer,
  cosignPayload,
  DSSE,
  envelope,
  envelopeBundle,
  IN_TOTO,
  inToto,
  newKey,
  newSigner,
  PROVENANCE,
  pushCosign,
  pushReferrer,
  type SigningKey,
  tagFor,
} from "../../../server/test/support/signing.ts";

const OPENVEX = "application/openvex+json";
const CYCLONEDX = "application/vnd.cyclonedx+json";
const VEX_PREDICATE = "https://openvex.dev/ns/v0.2.0";
const GATE = { on: ["PULL", "PROMOTE"], mode: "ENFORCE" };
const CONFIG = { mediaType: "application/vnd.oci.image.config.v1+json", content: "{}" };

let platform: Platform;
let signer = "";
let pusher = "";
const [security, other] = [newKey(), newKey()];

before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putGateRecords(platform);
  signer = await newSigner(platform, platform.organization, "security", [security]);
  await newSigner(platform, platform.organization, "ci", [other]);
  pusher = await platform.identity(platform.organization, "registry.push");
});
after(() => platform.close());

let documents = 0;
const vex = (): Record<string, unknown> => ({
  "@context": VEX_PREDICATE,
  "@id": `https://acme.example/vex/${(documents += 1)}`,
  author: "security",
  timestamp: "2026-11-01T08:00:00Z",
  version: 1,
  statements: [
    {
      vulnerability: { name: "CVE-2026-1" },
      products: [{ "@id": "pkg:npm/bad@1.0.0" }],
      status: "not_affected",
      justification: "vulnerable_code_not_in_execute_path",
    },
  ],
});

interface Attachment {
  manifest: string;
  source: string;
  state: string;
  reason: string;
  signatureReason: string;
  signers: string[];
  counts: boolean;
}

interface Attachments {
  attachments: Attachment[];
  unsignedDocuments: number;
}

async function attachments({ repo }: Pick<Place, "repo">, digest: string): Promise<Attachments> {
  const answer = await platform.ok("GET", `/registry/v2/repos/${repo}/digests/${digest}/attachments`);
  return { attachments: [], unsignedDocuments: 0, ...answer } as Attachments;
}

/** The documents once so many count, and so many do not because a policy asks for a signature. */
async function documentsOf(
  place: Pick<Place, "repo">,
  digest: string,
  wanted: { read: number; unsigned: number },
): Promise<Map<string, Attachment>> {
  return await eventually(async () => {
    const { attachments: all, unsignedDocuments } = await attachments(place, digest);
    const read = all.filter(({ state }) => state === "STATE_READ").length;
    const isReady = read === wanted.read && unsignedDocuments === wanted.unsigned;
    return isReady && new Map(all.map((each) => [each.manifest, each]));
  });
}

const openFindings = async ({ repo }: Pick<Place, "repo">, digest: string): Promise<string[]> =>
  (
    ((await platform.ok("GET", `/vulnerabilities/v2/findings?repo=${repo}&digest=${digest}&state=OPEN`))["findings"] ??
      []) as { vulnerability: string }[]
  ).map(({ vulnerability }) => vulnerability);

const ofVex = (subject: string): Artifact => ({
  artifactType: OPENVEX,
  subject,
  layers: [{ mediaType: OPENVEX, content: JSON.stringify(vex()) }],
});

const sign = (place: Place, digest: string, key: SigningKey): Promise<string> =>
  pushCosign(place, digest, [cosignLayer(key, cosignPayload(digest))]);

/** A policy of the organization for this repo: its documents are signed by `security`. */
async function documentPolicy({ name }: Place, fields: object = {}): Promise<string> {
  const body = {
    name: `documents of ${name.replaceAll("/", " ")}`,
    mode: "GATE_MODE_ENFORCE",
    repoPattern: name,
    documentSigners: [signer],
    ...fields,
  };
  return (await platform.ok("POST", `/registry/v2/signaturePolicies/${platform.organization}`, body)).uid;
}

test("only documents that a signer of the policy has signed count, as a manifest or an attestation in either form", async () => {
  const repo = await openGatedRepo(platform, GATE);
  const digest = await repo.push("v1", BAD);
  const plain = await pushArtifact(repo, ofVex(digest));
  await repo.pulledAs("v1", 200);
  assert.deepEqual(await openFindings(repo, digest), []);
  await documentPolicy(repo);
  // What was there before the policy is judged by it, too.
  await repo.pulledAs("v1", 403);
  const listed = (await documentsOf(repo, digest, { read: 0, unsigned: 1 })).get(plain);
  assert.match(listed?.reason ?? "", /^not signed as policy documents of .* asks: by security$/);
  assert.deepEqual([listed?.state, listed?.signers, listed?.counts], ["STATE_REJECTED", [], false]);
  assert.deepEqual(await openFindings(repo, digest), ["CVE-2026-1"]);
  // Somebody else's signature is not enough.
  await sign(repo, plain, other);
  await eventually(async () =>
    (await attachments(repo, digest)).attachments.some(({ signers }) => signers.includes("ci")),
  );
  await documentsOf(repo, digest, { read: 0, unsigned: 1 });
  await sign(repo, plain, security);
  await documentsOf(repo, digest, { read: 1, unsigned: 0 });
  await repo.pulledAs("v1", 200);
  // An attestation of cosign 2, below its tag, and one of cosign 3, a bundle: each by itself.
  for (const attest of [
    (place: Place, of: string, text: string) =>
      pushArtifact(place, {
        reference: tagFor(of, "att"),
        config: CONFIG,
        layers: [{ mediaType: DSSE, content: JSON.stringify(envelope(security, text)) }],
      }),
    (place: Place, of: string, text: string) => pushReferrer(place, of, envelopeBundle(security, text)),
  ]) {
    const image = await repo.push("v2", BAD);
    await pushArtifact(repo, ofVex(image));
    await documentsOf(repo, image, { read: 0, unsigned: 1 });
    await attest(repo, image, inToto(image, VEX_PREDICATE, vex()));
    await documentsOf(repo, image, { read: 1, unsigned: 1 });
    await repo.pulledAs("v2", 200);
  }
});

test("a policy in preview lets documents count and says which would not; another mode and its end count at once", async () => {
  const repo = await openGatedRepo(platform, GATE);
  const digest = await repo.push("v1", BAD);
  const manifest = await pushArtifact(repo, ofVex(digest));
  const policy = await documentPolicy(repo, { mode: "GATE_MODE_PREVIEW" });
  const listed = await documentsOf(repo, digest, { read: 1, unsigned: 0 });
  assert.match(listed.get(manifest)?.signatureReason ?? "", /asks: by security \(in preview\)$/);
  await repo.pulledAs("v1", 200);
  const path = `/registry/v2/signaturePolicies/${policy}`;
  await platform.ok("PATCH", `${path}?updateMask=mode`, { mode: "GATE_MODE_ENFORCE" });
  await repo.pulledAs("v1", 403);
  await platform.ok("DELETE", path);
  await repo.pulledAs("v1", 200);
  assert.deepEqual(
    (await documentsOf(repo, digest, { read: 1, unsigned: 0 })).get(manifest)?.signatureReason ?? "",
    "",
  );
});

test("what a signature said as of a time is known, and a signer that is revoked takes its documents along", async () => {
  const repo = await openGatedRepo(platform, GATE);
  const key = newKey();
  const leaving = await newSigner(platform, platform.organization, `leaving-${documents}`, [key]);
  await documentPolicy(repo, { documentSigners: [leaving, signer] });
  const digest = await repo.push("v1", BAD);
  await pushReferrer(repo, digest, envelopeBundle(key, inToto(digest, VEX_PREDICATE, vex())));
  await repo.pulledAs("v1", 200);
  const thenMs = Date.now() + platform.clock.offsetMs;
  platform.clock.offsetMs += 5_000;
  const revokeTime = new Date(thenMs - 60_000).toISOString();
  await platform.ok("PATCH", `/registry/v2/signers/${leaving}?updateMask=keys`, {
    keys: [{ pem: key.pem, revokeTime }],
  });
  await repo.pulledAs("v1", 403);
  const [unsigned] = (await documentsOf(repo, digest, { read: 0, unsigned: 1 })).values();
  assert.match(unsigned?.reason ?? "", /revoked/i);
  const query = `repo=${repo.repo}&digest=${digest}&state=OPEN&asOf=${new Date(thenMs).toISOString()}`;
  assert.deepEqual((await platform.ok("GET", `/vulnerabilities/v2/findings?${query}`))["findings"] ?? [], []);
  const kept = await platform.call("DELETE", `/registry/v2/signers/${leaving}`, { token: await platform.token() });
  assert.match(kept.text, /RESOURCE_IN_USE/, "a policy names it for documents");
});

test("a key that ends by the time alone ends its documents", async () => {
  const repo = await openGatedRepo(platform, GATE);
  const key = newKey();
  const notAfter = new Date(Date.now() + platform.clock.offsetMs + 3_600_000).toISOString();
  const ending = await newSigner(platform, platform.organization, `ending-${documents}`, [{ pem: key.pem, notAfter }]);
  await documentPolicy(repo, { documentSigners: [ending] });
  const digest = await repo.push("v1", BAD);
  await pushReferrer(repo, digest, envelopeBundle(key, inToto(digest, VEX_PREDICATE, vex())));
  await repo.pulledAs("v1", 200);
  platform.clock.offsetMs += 3_700_000;
  await repo.pulledAs("v1", 403);
  await documentsOf(repo, digest, { read: 0, unsigned: 1 });
});

test("documents that borrow a signature of something else count for nothing", async () => {
  const repo = await openGatedRepo(platform, GATE);
  await documentPolicy(repo);
  const elsewhere = await repo.push("v0", CLEAN);
  const digest = await repo.push("v1", BAD);
  const text = inToto(elsewhere, VEX_PREDICATE, vex());
  const sound = envelope(security, inToto(digest, PROVENANCE));
  const forged = envelope(newKey(), inToto(digest, VEX_PREDICATE, vex()));
  const layer = (mediaType: string, value: unknown): Artifact["layers"][number] => ({
    mediaType,
    content: JSON.stringify(value),
  });
  // A statement about another image; one that nobody trusted has signed; one that is not signed at all.
  await pushReferrer(repo, digest, envelopeBundle(security, text));
  await pushReferrer(repo, digest, JSON.stringify(forged), DSSE);
  await pushReferrer(repo, digest, inToto(digest, VEX_PREDICATE, vex()), IN_TOTO);
  // An envelope that is soundly signed, of provenance, with a document beside what was signed.
  for (const mediaType of [DSSE, BUNDLE])
    await pushArtifact(repo, {
      artifactType: mediaType,
      subject: digest,
      layers: [layer(mediaType, { ...sound, mediaType: BUNDLE, dsseEnvelope: forged })],
    });
  // A layer that is signed, and one beside it that is not.
  const mixed = [layer(DSSE, envelope(security, inToto(digest, VEX_PREDICATE, { ...vex(), statements: [] })))];
  await pushArtifact(repo, { artifactType: DSSE, subject: digest, layers: [...mixed, layer(DSSE, forged)] });
  // The image is signed, and that signs no document.
  await sign(repo, digest, security);
  // A document that was signed for another image, attached to this one by a tag.
  const taken = await pushArtifact(repo, ofVex(elsewhere));
  await sign(repo, taken, security);
  const retag = await fetch(`${repo.url}/v2/${repo.name}/manifests/${taken}`, {
    headers: { authorization: `Bearer ${repo.token}`, accept: "application/vnd.oci.image.manifest.v1+json" },
  });
  const body = await retag.text();
  const put = await fetch(`${repo.url}/v2/${repo.name}/manifests/${digest.replace(":", "-")}.sbom`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${repo.token}`,
      "content-type": "application/vnd.oci.image.manifest.v1+json",
    },
    body,
  });
  assert.equal(put.status, 201);
  const listed = await eventually(async () => {
    const { attachments: all, unsignedDocuments } = await attachments(repo, digest);
    const found = all.some(({ manifest, state }) => manifest === taken && state === "STATE_REJECTED");
    return all.every(({ state }) => state === "STATE_REJECTED") && found && unsignedDocuments === 4 && all;
  });
  assert.ok(listed.every(({ reason }) => reason !== ""));
  assert.equal((await repo.pulledAs("v1", 403)).status, 403);
  // And what is sound beside all of it counts.
  await pushReferrer(repo, digest, envelopeBundle(security, inToto(digest, VEX_PREDICATE, vex())));
  await repo.pulledAs("v1", 200);
});

test("what is signed is looked at, however much somebody attaches beside it", async () => {
  const repo = await openGatedRepo(platform, GATE);
  await documentPolicy(repo);
  const digest = await repo.push("v1", BAD);
  const byPusher = { ...repo, token: await platform.token(pusher, { audience: new URL(platform.url).host }) };
  const text = inToto(digest, VEX_PREDICATE, vex());
  const signed = await pushReferrer(byPusher, digest, envelopeBundle(security, text));
  await documentsOf(repo, digest, { read: 1, unsigned: 0 });
  for (let left = sized(105, 1_100); left > 0; left -= 1) await pushArtifact(byPusher, ofVex(digest));
  const listed = await eventually(async () => {
    const { attachments: all } = await attachments(repo, digest);
    return all.length === 100 && all;
  });
  assert.equal(listed.find(({ manifest }) => manifest === signed)?.state, "STATE_READ");
});

test("an unsigned SBOM adds no package; a signature does not make a claim decide; a signed index vouches for what it names", async () => {
  const repo = await openGatedRepo(platform, GATE);
  const byPusher = { ...repo, token: await platform.token(pusher, { audience: new URL(platform.url).host }) };
  await documentPolicy(repo);
  const digest = await repo.push("v1", CLEAN);
  const sbom = (place: Place, of: string): Promise<string> =>
    pushArtifact(place, {
      artifactType: CYCLONEDX,
      subject: of,
      layers: [{ mediaType: CYCLONEDX, content: cycloneDx(["bad"]) }],
    });
  const attached = await sbom(byPusher, digest);
  await documentsOf(repo, digest, { read: 0, unsigned: 1 });
  assert.deepEqual(await openFindings(repo, digest), []);
  await sign(repo, attached, security);
  await documentsOf(repo, digest, { read: 1, unsigned: 0 });
  await repo.pulledAs("v1", 403);
  // Signed and pushed by somebody who may not write advisories: as before, it stands beside the finding.
  const image = await repo.push("v2", BAD);
  const text = inToto(image, VEX_PREDICATE, vex());
  await pushReferrer(byPusher, image, envelopeBundle(security, text));
  await documentsOf(repo, image, { read: 1, unsigned: 0 });
  assert.deepEqual(await openFindings(repo, image), ["CVE-2026-1"]);
  // BuildKit's: the attestation manifest is named by the index, which is signed.
  const built = await repo.push("v3", BAD);
  const attestation = await pushArtifact(repo, {
    config: CONFIG,
    layers: [{ mediaType: IN_TOTO, content: inToto(built, VEX_PREDICATE, vex()) }],
  });
  const index = await pushIndex(repo, "v3", [
    [built, { os: "linux", architecture: "amd64" }],
    [
      attestation,
      { os: "unknown", architecture: "unknown" },
      { "vnd.docker.reference.type": "attestation-manifest", "vnd.docker.reference.digest": built },
    ],
  ]);
  await documentsOf(repo, built, { read: 0, unsigned: 1 });
  await sign(repo, index, security);
  await documentsOf(repo, built, { read: 1, unsigned: 0 });
  await eventually(async () => (await openFindings(repo, built)).length === 0);
});
