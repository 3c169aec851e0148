// What somebody who may push does to have an image pulled that nobody signed, or to keep one back that is signed: each
// is a pull under an enforcing policy.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushArtifact } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { sized } from "../../../server/test/support/extent.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../../../server/test/support/signed-repo.ts";
import {
  BUNDLE,
  cosignLayer,
  cosignPayload,
  COSIGN_SIGN,
  envelopeBundle,
  listSignatures,
  type ListedSignatures,
  inToto,
  newKey,
  newSigner,
  pushCosign,
  pushReferrer,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";

let platform: Platform;
let signer = "";
let pusher = "";
let pushersToken = "";
const key = newKey();
/** The most manifests with signatures of a digest that are verified. */
const MOST = 100;

before(async () => {
  platform = await startPlatform();
  signer = await newSigner(platform, platform.organization, "release", [key]);
  pusher = await platform.identity(platform.organization, "registry.push");
  pushersToken = await platform.token(pusher, { audience: new URL(platform.url).host });
});
after(() => platform.close());

const open = async (rule: object = {}): Promise<SignedRepo> => {
  const repo = await openSignedRepo(platform);
  await newPolicy(platform, repo.group, { rules: [{ signers: [signer], ...rule }] });
  return repo;
};
const statusOf = async (repo: SignedRepo, reference: string): Promise<number> => (await repo.pull(reference)).status;

test("a signature that is attached in another repo says nothing here, and with sameName not even when it is copied", async () => {
  const [one, other] = [await open(), await open({ sameName: true })];
  const bytes = Buffer.from("the same image in both");
  const pushSame = async (repo: SignedRepo): Promise<string> =>
    await pushArtifact(repo, {
      reference: "v1",
      layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", content: bytes }],
    });
  const digest = await pushSame(one);
  assert.equal(await pushSame(other), digest);
  const signed = cosignLayer(key, cosignPayload(digest, `registry.example.com/${one.name}`));
  await pushCosign(one, digest, [signed]);
  await verifiedSignatures(platform, one, digest);
  assert.deepEqual([await statusOf(one, "v1"), await statusOf(other, "v1")], [200, 403]);
  await pushCosign(other, digest, [signed]);
  await verifiedSignatures(platform, other, digest);
  assert.match((await other.pull("v1")).text, /it is of an image that is called/);
});

test("one key counts once, in two signers, in two signatures, and in both forms of cosign", async () => {
  const twin = await newSigner(platform, platform.organization, "twin", [key]);
  const repo = await open({ signers: [signer, twin], threshold: 2 });
  const digest = await repo.push("v1");
  await repo.sign(digest, key, key);
  await pushReferrer(repo, digest, envelopeBundle(key, inToto(digest, COSIGN_SIGN)));
  await verifiedSignatures(platform, repo, digest, 3);
  const { status, text } = await repo.pull("v1");
  assert.deepEqual([status, /1 of 2/.test(text)], [403, true], text);
});

test("a .sig tag that somebody overwrites takes its signature away, and the event names who", async () => {
  const repo = await open();
  const digest = await repo.push("v1");
  await repo.sign(digest, key);
  assert.equal(await statusOf(repo, "v1"), 200);
  await pushCosign({ ...repo, token: pushersToken }, digest, [cosignLayer(newKey(), cosignPayload(digest))]);
  await eventually(async () => (await statusOf(repo, "v1")) === 403);
  const lost = await eventually(async () => {
    const rows = await platform.transact(async (tx) => [
      ...(await tx.selectFrom("events").select(["type", "body"]).where("subject", "=", repo.repo).execute()),
      ...(await tx.selectFrom("event_outbox").select(["type", "body"]).where("subject", "=", repo.repo).execute()),
    ]);
    return rows.find(({ type }) => type === "registry.signature.lost.v1");
  });
  const body = JSON.parse(lost.body) as { digest: string; actor: string };
  assert.deepEqual([body.digest, body.actor], [digest, pusher]);
  // Signed again, as a referrer, that nobody overwrites.
  await pushReferrer(repo, digest, envelopeBundle(key, inToto(digest, COSIGN_SIGN)));
  await eventually(async () => (await statusOf(repo, "v1")) === 200);
});

test("what somebody's own signer trusts elsewhere crowds out no signature that counts here", async () => {
  const repo = await open();
  // The same image in a group of the pusher's, whose signer trusts all that is attached to it in both.
  const other = await openSignedRepo(platform);
  const own = newKey();
  await newSigner(platform, other.group, "own", [own]);
  const layers = [{ mediaType: "application/vnd.oci.image.layer.v1.tar", content: Buffer.from("one image, twice") }];
  const digest = await pushArtifact(repo, { reference: "v1", layers });
  assert.equal(await pushArtifact(other, { reference: "v1", layers }), digest);
  for (let n = 0; n < MOST; n += 1) {
    const content = envelopeBundle(own, inToto(digest, COSIGN_SIGN));
    for (const place of [other, { ...repo, token: pushersToken }]) await pushReferrer(place, digest, content);
  }
  await verifiedSignatures(platform, other, digest, MOST);
  await pushReferrer(repo, digest, envelopeBundle(key, inToto(digest, COSIGN_SIGN)));
  await eventually(async () => (await statusOf(repo, "v1")) === 200);
});

test("junk without end keeps no signed image back, makes none pass, and is neither read nor left unsaid", async () => {
  const repo = await open();
  const [signed, unsigned] = [await repo.push("signed"), await repo.push("unsigned")];
  const junk = sized(120, 5_000);
  const byPusher = { ...repo, token: pushersToken };
  for (let n = 0; n < junk; n += 1) {
    const content = `{"n":${n}}`;
    const layers = [{ mediaType: BUNDLE, content }];
    for (const subject of [signed, unsigned]) await pushArtifact(byPusher, { artifactType: BUNDLE, subject, layers });
  }
  await pushReferrer(repo, signed, envelopeBundle(key, inToto(signed, COSIGN_SIGN)));
  await eventually(async () => (await statusOf(repo, "signed")) === 200);
  await eventually(async () => (await statusOf(repo, "unsigned")) === 403);
  const settled = async (digest: string): Promise<ListedSignatures> =>
    await eventually(async () => {
      const answer = await listSignatures(platform, repo, digest);
      return !answer.pending && answer;
    });
  const [one, other] = [await settled(signed), await settled(unsigned)];
  assert.deepEqual([one.signatures.length, one.leftOut], [MOST, junk + 1 - MOST]);
  assert.deepEqual([other.signatures.length, other.leftOut], [MOST, junk - MOST]);
  assert.equal(one.signatures.filter(({ state }) => state === "SIGNATURE_STATE_TRUSTED").length, 1);
  // Of all that was pushed, the first ones alone were read, and what has made the image pass.
  const { n } = await platform.reader
    .selectFrom("signature_readings")
    .select(({ fn }) => fn.countAll().as("n"))
    .where("subject", "in", [signed, unsigned])
    .executeTakeFirstOrThrow();
  assert.equal(Number(n), MOST + 1 + MOST);
});
