// Policies of signatures at pulls: what is blocked, from whom, and what signing needs meanwhile.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deleteReference, pushIndex } from "../../../server/test/support/catalog/push.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../../../server/test/support/signed-repo.ts";
import {
  cosignLayer,
  cosignPayload,
  COSIGN_SIGN,
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

let platform: Platform;
const key = newKey();
let signer = "";

before(async () => {
  platform = await startPlatform();
  signer = await newSigner(platform, platform.organization, "release", [key]);
});
after(() => platform.close());

async function open(fields: Record<string, unknown> = {}): Promise<SignedRepo & { policy: string }> {
  const repo = await openSignedRepo(platform);
  const policy = await newPolicy(platform, repo.group, { rules: [{ signers: [signer] }], ...fields });
  return { ...repo, policy };
}

test("push, be denied, sign with a token that is for pulling alone, be answered: cosign 2 and 3", async () => {
  const repo = await open();
  const pushers = await platform.identity(repo.group, "registry.push");
  for (const form of ["tag", "bundle"] as const) {
    const digest = await repo.push(form);
    for (const method of ["GET", "HEAD"]) assert.equal((await repo.pull(form, method)).status, 403);
    const denied = await repo.pull(digest);
    assert.equal(denied.status, 403);
    assert.match(denied.text, /^\{"errors":\[\{"code":"DENIED"/);
    assert.match(
      denied.text,
      new RegExp(
        `Permission denied: ${digest} is not signed as policy policy \\d+ \\(acme/g\\d+\\) asks: rule rule 0: 0 of 1 by release`,
      ),
    );
    // Programs that sign resolve the tag with a token for pulling alone, by identities that may push.
    const resolved = await repo.pullAs(pushers, form);
    assert.equal(resolved.status, 200, resolved.text);
    assert.match(String(resolved.headers["warning"]), /^299 - "sha256:.* is not signed as policy/);
    const payload = cosignPayload(digest);
    const manifest =
      form === "tag"
        ? await pushCosign(repo, digest, [cosignLayer(key, payload)])
        : await pushReferrer(repo, digest, envelopeBundle(key, inToto(digest, COSIGN_SIGN)));
    await verifiedSignatures(platform, repo, digest);
    const answered = await repo.pull(form);
    assert.equal(answered.status, 200, answered.text);
    assert.equal(answered.headers["warning"], undefined);
    // Whoever verifies reads the signature, which is never blocked.
    assert.equal((await repo.pull(manifest)).status, 200);
    if (form === "tag") assert.equal((await repo.pull(tagFor(digest, "sig"))).status, 200);
  }
});

test("a pull right after signing waits until the signature is verified", async () => {
  const repo = await open();
  const digest = await repo.push("v1");
  assert.equal((await repo.pull("v1")).status, 403);
  await pushCosign(repo, digest, [cosignLayer(key, cosignPayload(digest))]);
  for (let left = 10; ; left -= 1) {
    const { status, headers, text } = await repo.pull("v1");
    if (status === 200) break;
    // Never a denial while it is not known, and never an answer.
    assert.equal(status, 503, text);
    assert.match(text, /It is not known yet whether .* is signed/);
    assert.equal(headers["retry-after"], "5");
    assert.ok(left > 0, text);
  }
});

test("in preview everything is answered; an enforcing policy of a group above counts, and none below weakens it", async () => {
  const repo = await open({ mode: "GATE_MODE_PREVIEW" });
  await repo.push("v1");
  assert.equal((await repo.pull("v1")).status, 200);
  const { uid: inner } = await platform.group(repo.group, { name: "inner" });
  const below = await openSignedRepo(platform, inner, repo.name.replace(/app$/, "inner"));
  await below.push("v1");
  assert.equal((await below.pull("v1")).status, 200);
  await platform.ok("PATCH", `/registry/v2/signaturePolicies/${repo.policy}?updateMask=mode`, { mode: "ENFORCE" });
  assert.equal((await repo.pull("v1")).status, 403);
  assert.equal((await below.pull("v1")).status, 403);
  await newPolicy(platform, inner, { rules: [{ signers: [signer] }], mode: "GATE_MODE_PREVIEW" });
  assert.equal((await below.pull("v1")).status, 403);
  await platform.ok("DELETE", `/registry/v2/signaturePolicies/${repo.policy}`);
  assert.equal((await below.pull("v1")).status, 200);
});

test("a signer that changes, a signature that is taken away, and an exemption decide from the next pull on", async () => {
  const other = newKey();
  const own = await newSigner(platform, platform.organization, "changing", [other]);
  const repo = await open({ rules: [{ signers: [own] }] });
  const digest = await repo.push("v1");
  await repo.sign(digest, other);
  assert.equal((await repo.pull("v1")).status, 200);
  assert.equal((await repo.pull("v1")).status, 200);
  // Nothing passes by what the signer said before, whether it has been verified anew or not.
  await platform.ok("PATCH", `/registry/v2/signers/${own}?updateMask=keys`, { keys: [{ pem: key.pem }] });
  assert.notEqual((await repo.pull("v1")).status, 200);
  await platform.ok("PATCH", `/registry/v2/signers/${own}?updateMask=keys`, { keys: [{ pem: other.pem }] });
  await verifiedSignatures(platform, repo, digest);
  assert.equal((await repo.pull("v1")).status, 200);
  await deleteReference(repo, tagFor(digest, "sig"));
  await verifiedSignatures(platform, repo, digest, 0);
  assert.equal((await repo.pull("v1")).status, 403);
  const expireTime = new Date(platform.clock.nowMs() + 3_600_000).toISOString();
  const exempt = { repo: repo.repo, digest, reason: "until it is signed again", expireTime };
  const { uid: exemption } = await platform.ok("POST", `/registry/v2/signatureExemptions/${repo.policy}`, exempt);
  assert.equal((await repo.pull("v1")).status, 200);
  platform.clock.offsetMs += 3_600_000;
  assert.equal((await repo.pull("v1")).status, 403);
  await platform.ok("DELETE", `/registry/v2/signatureExemptions/${exemption}`);
});

test("hostile: another image's signature, an attestation, one key twice, an image with a subject, junk", async () => {
  const repo = await open({ rules: [{ signers: [signer], threshold: 1 }] });
  const signed = await repo.push("signed");
  await repo.sign(signed, key);
  const digest = await repo.push("v1");
  // The signature of another image, and an attestation of this one.
  await pushCosign(repo, digest, [cosignLayer(key, cosignPayload(signed))]);
  await pushReferrer(repo, digest, envelopeBundle(key, inToto(digest, PROVENANCE)));
  await verifiedSignatures(platform, repo, digest, 2);
  const denied = await repo.pull("v1");
  assert.equal(denied.status, 403);
  assert.match(denied.text, /an attestation: https:\/\/slsa\.dev\/provenance\/v1/);
  // An image is blocked whatever it says to be about.
  const { body } = await platform.call("GET", `/v2/${repo.name}/manifests/${digest}`, { token: repo.token });
  const raw = JSON.stringify({
    ...body,
    subject: { mediaType: body["mediaType"], digest, size: 1 },
    artifactType: "application/vnd.dev.sigstore.bundle.v0.3+json",
  });
  const put = await platform.call("PUT", `/v2/${repo.name}/manifests/posing`, {
    token: repo.token,
    raw,
    headers: { "content-type": String(body["mediaType"]) },
  });
  assert.equal(put.status, 201, put.text);
  assert.equal((await repo.pull("posing")).status, 403);
  await platform.ok("PATCH", `/registry/v2/signaturePolicies/${repo.policy}?updateMask=rules`, {
    rules: [{ name: "two", signers: [signer], threshold: 2 }],
  });
  await repo.sign(signed, key, key);
  const once = await repo.pull("signed");
  assert.equal(once.status, 403);
  assert.match(once.text, /1 of 2 by release/);
});

test("pulls that come together are judged each by its own image and its own groups", async () => {
  const signed = await open();
  const below = await openSignedRepo(platform, signed.group, signed.name.slice(0, signed.name.lastIndexOf("/")));
  const places = [signed, below];
  for (const place of places) {
    await place.push("unsigned");
    await place.sign(await place.push("signed"), key);
  }
  const round = async (): Promise<number[]> =>
    await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const place = places[n % 2] ?? signed;
        return (await place.pull(n % 4 < 2 ? "signed" : "unsigned")).status;
      }),
    );
  const expected = Array.from({ length: 40 }, (_, n) => (n % 4 < 2 ? 200 : 403));
  assert.deepEqual(await round(), expected);
  // Again, by what is kept in memory.
  assert.deepEqual(await round(), expected);
  // From the next pull on a policy in preview blocks none.
  await platform.ok("PATCH", `/registry/v2/signaturePolicies/${signed.policy}?updateMask=mode`, {
    mode: "GATE_MODE_PREVIEW",
  });
  assert.deepEqual(
    await round(),
    expected.map(() => 200),
  );
});

test("an index passes when it or all its images are signed, and its images by it", async () => {
  const repo = await open();
  const platforms = [
    { os: "linux", architecture: "amd64" },
    { os: "linux", architecture: "arm64" },
  ];
  const images = [await repo.push("amd64"), await repo.push("arm64")];
  const index = await pushIndex(
    repo,
    "v1",
    images.map((digest, at) => [digest, platforms[at] ?? { os: "", architecture: "" }]),
  );
  const [first = "", second = ""] = images;
  await repo.sign(first, key);
  assert.deepEqual(
    [(await repo.pull("v1")).status, (await repo.pull(first)).status, (await repo.pull(second)).status],
    [403, 200, 403],
  );
  await repo.sign(second, key);
  assert.deepEqual([(await repo.pull("v1")).status, (await repo.pull(second)).status], [200, 200]);
  await deleteReference(repo, tagFor(first, "sig"));
  await deleteReference(repo, tagFor(second, "sig"));
  await repo.sign(index, key);
  await verifiedSignatures(platform, repo, first, 0);
  assert.deepEqual([(await repo.pull("v1")).status, (await repo.pull(first)).status], [200, 200]);
  await platform.ok("PATCH", `/registry/v2/signaturePolicies/${repo.policy}?updateMask=eachPlatform`, {
    eachPlatform: true,
  });
  assert.deepEqual([(await repo.pull("v1")).status, (await repo.pull(first)).status], [200, 403]);
});

test("a damaged policy lets nothing pass, and says so", async () => {
  const repo = await open();
  const digest = await repo.push("v1");
  await repo.sign(digest, key);
  assert.equal((await repo.pull("v1")).status, 200);
  await platform.transact((tx) =>
    tx.updateTable("signature_policies").set({ rules: "[{]" }).where("uid", "=", repo.policy).execute(),
  );
  // Whatever damages a row changes no counter: a process sees it after a minute.
  platform.clock.offsetMs += 61_000;
  const { status, text } = await repo.pull("v1");
  assert.equal(status, 403);
  assert.match(text, /lets nothing pass: the policy cannot be read/);
});
