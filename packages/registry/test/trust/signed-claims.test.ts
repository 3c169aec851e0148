// Rules that ask for what was signed says: annotations, names, provenance and values of attestations.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushArtifact } from "../../../server/test/support/catalog/push.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../../../server/test/support/signed-repo.ts";
import {
  cosignLayer,
  cosignPayload,
  COSIGN_SIGN,
  DSSE,
  envelope,
  envelopeBundle,
  inToto,
  newKey,
  newSigner,
  PROVENANCE,
  pushCosign,
  pushReferrer,
  tagFor,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";

const SCAN = "https://cosign.sigstore.dev/attestation/vuln/v1";

let platform: Platform;
const key = newKey();
let signer = "";

before(async () => {
  platform = await startPlatform();
  signer = await newSigner(platform, platform.organization, "release", [key]);
});
after(() => platform.close());

async function open(rule: object): Promise<SignedRepo> {
  const repo = await openSignedRepo(platform);
  await newPolicy(platform, repo.group, { rules: [{ signers: [signer], ...rule }] });
  return repo;
}

/** What a pull and the decision of an image say: they never differ. */
async function said(repo: SignedRepo, digest: string): Promise<string> {
  const decision = await platform.ok("GET", `/registry/v2/repos/${repo.repo}/digests/${digest}/signatureDecision`);
  const { status, text } = await repo.pull(digest);
  assert.equal(status === 200, decision["held"] === false, text);
  return status === 200 ? "" : `${status} ${text}`;
}

test("annotations count only as they are signed, in the forms of cosign 2 and 3", async () => {
  const repo = await open({ annotations: { env: "prod" } });
  const digest = await repo.push("v1");
  const bare = cosignLayer(key, cosignPayload(digest));
  // Whoever pushes may annotate the layer, which says nothing of what was signed.
  await pushCosign(repo, digest, [{ ...bare, annotations: { ...bare?.annotations, env: "prod" } }]);
  await verifiedSignatures(platform, repo, digest);
  assert.match(await said(repo, digest), /403 .*it has no annotation env/);
  await pushCosign(repo, digest, [cosignLayer(key, cosignPayload(digest, "acme/app", { env: "dev" }))]);
  await verifiedSignatures(platform, repo, digest);
  assert.match(await said(repo, digest), /403 .*its annotation env is another one/);
  await pushCosign(repo, digest, [cosignLayer(key, cosignPayload(digest, "acme/app", { env: "prod", n: 1 }))]);
  await verifiedSignatures(platform, repo, digest);
  assert.equal(await said(repo, digest), "");
  const other = await repo.push("v2");
  const statement = inToto(other, COSIGN_SIGN, {}, { annotations: { env: "prod" } });
  await pushReferrer(repo, other, envelopeBundle(key, statement));
  await verifiedSignatures(platform, repo, other);
  assert.equal(await said(repo, other), "");
});

test("a signature that was made elsewhere does not count where the name must be the same", async () => {
  const repo = await open({ sameName: true });
  const digest = await repo.push("v1");
  await pushCosign(repo, digest, [cosignLayer(key, cosignPayload(digest, `registry.example.com/other/${repo.name}`))]);
  await verifiedSignatures(platform, repo, digest);
  assert.match(await said(repo, digest), /403 .*it is of an image that is called registry\.example\.com\/other\//);
  await pushCosign(repo, digest, [cosignLayer(key, cosignPayload(digest, `registry.example.com/${repo.name}:v1`))]);
  await verifiedSignatures(platform, repo, digest);
  assert.equal(await said(repo, digest), "");
});

test("provenance of the builder, the source and the branch that the rule names", async () => {
  const builder = "https://github.com/actions/runner/github-hosted";
  const repo = await open({
    provenance: {
      builderIds: [builder],
      sourceUris: ["https://github.com/acme/app"],
      sourceRefs: ["refs/heads/main"],
    },
  });
  const digest = await repo.push("v1");
  const attest = async (ref: string, count: number): Promise<void> => {
    const workflow = { repository: "https://github.com/acme/app", ref };
    const predicate = {
      buildDefinition: { externalParameters: { workflow } },
      runDetails: { builder: { id: builder } },
    };
    await pushReferrer(repo, digest, envelopeBundle(key, inToto(digest, PROVENANCE, predicate)));
    await verifiedSignatures(platform, repo, digest, count);
  };
  assert.match(await said(repo, digest), /403 .*0 of 1 by release/);
  await repo.sign(digest, key);
  assert.match(await said(repo, digest), /403 .*a signature of the image, no attestation/);
  await attest("refs/heads/dev", 2);
  assert.match(await said(repo, digest), /403 .*it was built from refs\/heads\/dev/);
  await attest("refs/heads/main", 3);
  assert.equal(await said(repo, digest), "");
});

test("a condition of a scan ends by the time alone; what is not kept of a large one is not known", async () => {
  const conditions = [{ pointer: "/metadata/scanFinishedOn", newerThan: "3600s" }];
  const repo = await open({ predicateType: SCAN, conditions });
  const digest = await repo.push("v1");
  const scanFinishedOn = new Date(platform.clock.nowMs()).toISOString();
  const scan = inToto(digest, SCAN, { metadata: { scanFinishedOn } });
  const content = JSON.stringify(envelope(key, scan));
  await pushArtifact(repo, { reference: tagFor(digest, "att"), layers: [{ mediaType: DSSE, content }] });
  await verifiedSignatures(platform, repo, digest);
  assert.equal(await said(repo, digest), "");
  platform.clock.offsetMs += 3_600_000;
  assert.match(await said(repo, digest), /403 .*is too long ago/);
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`n${n}`, "v".repeat(50)]));
  const large = await repo.push("v2");
  const statement = inToto(large, SCAN, { ...many, metadata: { scanFinishedOn } });
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  await pushReferrer({ ...repo, token }, large, envelopeBundle(key, statement));
  await verifiedSignatures(platform, repo, large);
  assert.match(await said(repo, large), /403 .*It is not known whether .*more values are not/);
});

test("what was verified before its claims were kept waits, and is verified again", async () => {
  const repo = await open({ annotations: { env: "prod" } });
  const digest = await repo.push("v1");
  await pushCosign(repo, digest, [cosignLayer(key, cosignPayload(digest, "acme/app", { env: "prod" }))]);
  await verifiedSignatures(platform, repo, digest);
  // As migration 74 leaves it.
  await platform.transact(async (tx) => {
    await tx.updateTable("signature_entries").set({ claims: null }).where("subject", "=", digest).execute();
    await tx.updateTable("signature_readings").set({ state: 1, holder: "" }).where("subject", "=", digest).execute();
  });
  const { status, text } = await repo.pull(digest);
  if (status !== 200) assert.equal(status, 503, text);
  await verifiedSignatures(platform, repo, digest);
  assert.equal(await said(repo, digest), "");
});

test("a rule that cannot be met as it is written is rejected with its field", async () => {
  const { group } = await openSignedRepo(platform);
  for (const [rule, field] of [
    [{ conditions: [{ pointer: "/a", values: ["x"] }] }, "rules[0].conditions"],
    [{ predicateType: SCAN, conditions: [{ pointer: "a", values: ["x"] }] }, "rules[0].conditions[0].pointer"],
    [{ predicateType: SCAN, conditions: [{ pointer: "/a~2", values: ["x"] }] }, "rules[0].conditions[0].pointer"],
    [{ predicateType: SCAN, conditions: [{ pointer: "/a" }] }, "rules[0].conditions[0]"],
    [{ predicateType: SCAN, conditions: [{ pointer: "/a", newerThan: "0s" }] }, "rules[0].conditions[0].newerThan"],
    [{ provenance: {} }, "rules[0].provenance"],
    [{ predicateType: SCAN, provenance: { builderIds: ["x"] } }, "rules[0].predicateType"],
    [{ provenance: { builderIds: [""] } }, "rules[0].provenance.builderIds[0]"],
    [{ annotations: { "": "x" } }, "rules[0].annotations"],
  ] as const) {
    const { status, text } = await platform.call("POST", `/registry/v2/signaturePolicies/${group}`, {
      token: await platform.token(platform.owner),
      body: { name: "faulty", on: ["PULL"], rules: [{ name: "one", signers: [signer], ...rule }] },
    });
    assert.equal(status, 400, text);
    assert.ok(text.includes(`"${field}"`), text);
  }
});
