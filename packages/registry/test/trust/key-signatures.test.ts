// Signatures made with keys, in the forms of cosign 2 and 3: what each is worth, as the API answers it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { deleteReference, pushArtifact, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import {
  COSIGN_SIGN,
  cosignLayer,
  cosignPayload,
  DSSE,
  envelope,
  envelopeBundle,
  IN_TOTO,
  inToto,
  type KeyType,
  listSignatures,
  messageBundle,
  newKey,
  newSigner,
  PROVENANCE,
  pushCosign,
  pushReferrer,
  short,
  type SigningKey,
  tagFor,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";

let platform: Platform;
let token = "";
const KEYS: Readonly<Record<KeyType, SigningKey>> = {
  "P-256": newKey(),
  "P-384": newKey("P-384"),
  "P-521": newKey("P-521"),
  rsa: newKey("rsa"),
  ed25519: newKey("ed25519"),
};
const release = KEYS["P-256"];
let releaseSigner = "";

before(async () => {
  platform = await startPlatform();
  token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  releaseSigner = await newSigner(platform, platform.organization, "release", [release]);
  const others = (["P-384", "P-521", "rsa", "ed25519"] as const).map((type) => KEYS[type]);
  await newSigner(platform, platform.organization, "all others", others);
});
after(() => platform.close());

let images = 0;
async function image(): Promise<{ place: Place; digest: string }> {
  // Some tests move the clock.
  token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const place = await newRepoPlace(platform, token);
  const digest = await pushLayers(place, "v1", [Buffer.from(`layer ${(images += 1)}`)]);
  return { place, digest };
}

const worth = async (place: Place, digest: string, count = 1): Promise<string[]> =>
  (await verifiedSignatures(platform, place, digest, count)).map(short);

test("cosign 2's signature of an image is trusted by the signer whose key has made it, and by nobody else", async () => {
  const { place, digest } = await image();
  const manifest = await pushCosign(place, digest, [cosignLayer(release, cosignPayload(digest))]);
  const [signature] = await verifiedSignatures(platform, place, digest);
  assert.deepEqual(
    [signature?.manifest, signature?.source, signature?.format, signature?.predicateType, signature?.attachedBy],
    [manifest, tagFor(digest, "sig"), "SIGNATURE_FORMAT_SIMPLE_SIGNING", "", platform.owner],
  );
  assert.equal(short(signature), "TRUSTED");
  assert.deepEqual(
    signature?.verdicts.map((each) => [each.signerName, short(each)]),
    [
      ["all others", "UNTRUSTED OTHER_SIGNER"],
      ["release", "TRUSTED"],
    ],
  );
  const signer = await platform.ok("GET", `/registry/v2/signers/${releaseSigner}`);
  const [key] = signer["keys"] as { fingerprint: string }[];
  assert.equal(signature?.verdicts[1]?.fingerprint, key?.fingerprint);
  assert.match(key?.fingerprint ?? "", /^sha256:[0-9a-f]{64}$/);
});

test("every kind of key verifies, with the hash of its curve and with SHA-256", async () => {
  const { place, digest } = await image();
  const payload = cosignPayload(digest);
  const layers = [
    cosignLayer(KEYS["P-384"], payload),
    cosignLayer(KEYS["P-384"], payload, "sha384"),
    cosignLayer(KEYS["P-521"], payload),
    cosignLayer(KEYS["P-521"], payload, "sha512"),
    cosignLayer(KEYS.rsa, payload),
    cosignLayer(KEYS.ed25519, payload),
    // The hash of another curve, or any other, is not of such a key.
    cosignLayer(release, payload, "sha384"),
    cosignLayer(KEYS.rsa, payload, "sha1"),
  ];
  await pushCosign(place, digest, layers);
  assert.deepEqual(await worth(place, digest, layers.length), [
    ...Array<string>(6).fill("TRUSTED"),
    ...Array<string>(2).fill("UNTRUSTED OTHER_SIGNER"),
  ]);
});

test("of two signatures one that is bad does not spoil the other, and is not covered by it", async () => {
  const { place, digest } = await image();
  const other = await image();
  const layers = [
    cosignLayer(release, cosignPayload(other.digest)),
    cosignLayer(release, cosignPayload(digest)),
    cosignLayer(newKey(), cosignPayload(digest)),
  ];
  await pushCosign(place, digest, layers);
  assert.deepEqual(await worth(place, digest, 3), ["INVALID OTHER_IMAGE", "TRUSTED", "UNTRUSTED OTHER_SIGNER"]);
  const { counts } = await listSignatures(platform, place, digest);
  assert.deepEqual(
    counts.map((each) => [short(each), each.count]),
    [
      ["TRUSTED", 1],
      ["UNTRUSTED OTHER_SIGNER", 1],
      ["INVALID OTHER_IMAGE", 1],
    ],
  );
});

test("bundles of Sigstore: cosign 3's statement is a signature of the image, any other one an attestation", async () => {
  const { place, digest } = await image();
  const manifest = Buffer.from(
    await (
      await fetch(`${platform.url}/v2/${place.name}/manifests/${digest}`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).arrayBuffer(),
  );
  const pushed = [
    await pushReferrer(place, digest, envelopeBundle(release, inToto(digest, COSIGN_SIGN))),
    await pushReferrer(place, digest, envelopeBundle(release, inToto(digest, PROVENANCE))),
    await pushReferrer(place, digest, messageBundle(release, manifest)),
    await pushReferrer(place, digest, messageBundle(release, Buffer.from("another one"))),
    await pushReferrer(place, digest, JSON.stringify(envelope(release, inToto(digest, PROVENANCE))), DSSE, IN_TOTO),
  ];
  const found = await verifiedSignatures(platform, place, digest, pushed.length);
  const by = new Map(found.map((each) => [each.manifest, [each.predicateType, short(each)]]));
  assert.deepEqual(
    pushed.map((each) => by.get(each)),
    [
      ["", "TRUSTED"],
      [PROVENANCE, "TRUSTED"],
      ["", "TRUSTED"],
      ["", "INVALID OTHER_IMAGE"],
      [PROVENANCE, "TRUSTED"],
    ],
  );
});

test("cosign 2's attestations are read below their tag", async () => {
  const { place, digest } = await image();
  const content = JSON.stringify(envelope(release, inToto(digest, PROVENANCE)));
  await pushArtifact(place, { reference: tagFor(digest, "att"), layers: [{ mediaType: DSSE, content }] });
  const [signature] = await verifiedSignatures(platform, place, digest);
  assert.deepEqual(
    [signature?.source, signature?.format, signature?.predicateType, short(signature)],
    [tagFor(digest, "att"), "SIGNATURE_FORMAT_DSSE", PROVENANCE, "TRUSTED"],
  );
});

test("what was never verified says so: no signer, other forms, nothing attached", async () => {
  const { uid: elsewhere } = await platform.ok("POST", "/iam/v2/groups", { name: "unsigned" });
  const { uid: repo } = await platform.repo(elsewhere, { name: "app" });
  const place = { repo, url: platform.url, token, name: "unsigned/app" };
  const digest = await pushLayers(place, "v1", [Buffer.from("a layer")]);
  assert.deepEqual(await listSignatures(platform, place, digest), {
    signatures: [],
    counts: [],
    leftOut: 0,
    pending: false,
  });
  await pushCosign(place, digest, [cosignLayer(release, cosignPayload(digest))]);
  assert.deepEqual(await worth(place, digest), ["UNTRUSTED NO_SIGNER"]);
  const notation = "application/vnd.cncf.notary.signature";
  await pushReferrer(place, digest, "{}", "application/octet-stream", notation);
  assert.deepEqual((await worth(place, digest, 2)).sort(), ["UNTRUSTED NO_SIGNER", "UNTRUSTED UNKNOWN_FORMAT"]);
});

test("a signer that is made later, changed or deleted decides anew; what was known before is known as of then", async () => {
  const { place, digest } = await image();
  const key = newKey();
  await pushCosign(place, digest, [cosignLayer(key, cosignPayload(digest))]);
  assert.deepEqual(await worth(place, digest), ["UNTRUSTED OTHER_SIGNER"]);
  const signer = await newSigner(platform, platform.organization, "late", [key]);
  assert.deepEqual(await worth(place, digest), ["TRUSTED"]);
  platform.clock.offsetMs += 60_000;
  const whileTrusted = new Date(platform.clock.nowMs()).toISOString();
  platform.clock.offsetMs += 60_000;
  await platform.ok("PATCH", `/registry/v2/signers/${signer}?updateMask=keys`, { keys: [{ pem: newKey().pem }] });
  assert.deepEqual(await worth(place, digest), ["UNTRUSTED OTHER_SIGNER"]);
  const before = await listSignatures(platform, place, digest, whileTrusted);
  assert.deepEqual(before.signatures.map(short), ["TRUSTED"]);
  platform.clock.offsetMs += 60_000;
  await platform.ok("DELETE", `/registry/v2/signers/${signer}`);
  assert.deepEqual(await worth(place, digest), ["UNTRUSTED OTHER_SIGNER"]);
  const stillThen = await listSignatures(platform, place, digest, whileTrusted);
  const trusted = stillThen.signatures[0]?.verdicts.find((each) => each.signer === signer);
  assert.equal(short(trusted), "TRUSTED");
});

test("a key that ends holds until then; where the registry's time counts, also what it held before", async () => {
  const nowMs = platform.clock.nowMs();
  const at = (ms: number): string => new Date(nowMs + ms).toISOString();
  const [ending, witnessed, revoked, early] = [newKey(), newKey(), newKey(), newKey()];
  const times = ["SIGNATURE_TIME_REGISTRY"];
  const { organization } = platform;
  await newSigner(platform, organization, "ending", [{ ...ending, notAfter: at(3_600_000) }]);
  await newSigner(platform, organization, "witnessed", [{ ...witnessed, notAfter: at(3_600_000) }], { times });
  await newSigner(platform, organization, "revoked", [{ ...revoked, revokeTime: at(7_200_000) }]);
  await newSigner(platform, organization, "early", [{ ...early, notBefore: at(3_600_000) }]);
  const { place, digest } = await image();
  const layers = [ending, witnessed, revoked, early].map((key) => cosignLayer(key, cosignPayload(digest)));
  await pushCosign(place, digest, layers);
  assert.deepEqual(await worth(place, digest, 4), ["TRUSTED", "TRUSTED", "TRUSTED", "EXPIRED EXPIRED"]);
  platform.clock.offsetMs += 3_700_000;
  // Nothing was verified anew: the time alone has passed.
  const later = await listSignatures(platform, place, digest);
  assert.deepEqual(later.signatures.map(short), ["EXPIRED EXPIRED", "TRUSTED", "TRUSTED", "TRUSTED"]);
  assert.match(later.signatures[0]?.reason ?? "", /^the key was valid until .*, and no time that counts shows/);
  platform.clock.offsetMs += 3_700_000;
  const last = await listSignatures(platform, place, digest);
  assert.deepEqual(last.signatures.map(short), ["EXPIRED EXPIRED", "TRUSTED", "REVOKED REVOKED", "TRUSTED"]);
  assert.deepEqual((await listSignatures(platform, place, digest, at(1_800_000))).signatures.map(short), [
    "TRUSTED",
    "TRUSTED",
    "TRUSTED",
    "EXPIRED EXPIRED",
  ]);
});

test("a signature that is taken away is not answered any longer, but as of before", async () => {
  const { place, digest } = await image();
  await pushCosign(place, digest, [cosignLayer(release, cosignPayload(digest))]);
  assert.deepEqual(await worth(place, digest), ["TRUSTED"]);
  platform.clock.offsetMs += 60_000;
  const before = new Date(platform.clock.nowMs()).toISOString();
  platform.clock.offsetMs += 60_000;
  await deleteReference(place, tagFor(digest, "sig"));
  await eventually(async () => (await listSignatures(platform, place, digest)).signatures.length === 0);
  const then = await listSignatures(platform, place, digest, before);
  assert.deepEqual(then.signatures.map(short), ["TRUSTED"]);
});
