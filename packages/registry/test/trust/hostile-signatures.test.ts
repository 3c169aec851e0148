// What somebody pushes who wants an image to pass for signed, or to keep others from seeing that it is: each is an
// answer.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { pushArtifact, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { sized } from "../../../server/test/support/extent.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import {
  cosignLayer,
  cosignPayload,
  DSSE,
  envelope,
  envelopeBundle,
  IN_TOTO,
  inToto,
  listSignatures,
  newKey,
  newSigner,
  PROVENANCE,
  pushCosign,
  pushReferrer,
  short,
  signed,
  SIMPLE_SIGNING,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";

let platform: Platform;
let token = "";
let pushersToken = "";
let pusher = "";
const key = newKey();

before(async () => {
  platform = await startPlatform();
  const audience = new URL(platform.url).host;
  token = await platform.token(platform.owner, { audience });
  pusher = await platform.identity(platform.organization, "registry.push");
  pushersToken = await platform.token(pusher, { audience });
  await newSigner(platform, platform.organization, "release", [key]);
});
after(() => platform.close());

let images = 0;
async function image(): Promise<{ place: Place; digest: string }> {
  const place = await newRepoPlace(platform, token);
  return { place, digest: await pushLayers(place, "v1", [Buffer.from(`layer ${(images += 1)}`)]) };
}

/** A layer of cosign 2 whose payload is exactly this text, soundly signed. */
const layerOf = (payload: string): ReturnType<typeof cosignLayer> => cosignLayer(key, payload);

test("payloads that two programs could read in two ways, of other types, or that are none are invalid", async () => {
  const { place, digest } = await image();
  const other = `sha256:${"0".repeat(64)}`;
  const sound = cosignPayload(digest);
  const image2 = (inner: string): string =>
    `{"critical":{"identity":{"docker-reference":""},"image":{${inner}},"type":"cosign container image signature"}}`;
  const cases: [payload: string, worth: string][] = [
    [sound, "TRUSTED"],
    // Where the image was pushed to when it was signed does not matter: it may have been copied.
    [cosignPayload(digest, "elsewhere.example.com/other"), "TRUSTED"],
    [image2(`"docker-manifest-digest":"${other}","docker-manifest-digest":"${digest}"`), "INVALID UNREADABLE"],
    [image2(`"docker-manifest-digest":"${digest}","docker\\u002dmanifest-digest":"${other}"`), "INVALID UNREADABLE"],
    [image2(`"docker-manifest-digest":["${digest}"]`), "INVALID OTHER_IMAGE"],
    [image2(`"Docker-manifest-digest":"${digest}"`), "INVALID OTHER_IMAGE"],
    [image2(`"docker-manifest-digest":"${digest.toUpperCase()}"`), "INVALID OTHER_IMAGE"],
    [sound.replace("cosign container image signature", "atomic container signature"), "INVALID OTHER_PAYLOAD"],
    [sound.replace('"type"', '"kind"'), "INVALID OTHER_PAYLOAD"],
    ["", "INVALID UNREADABLE"],
    ["null", "INVALID UNREADABLE"],
    [`[${sound}]`, "INVALID UNREADABLE"],
    [`${sound} {}`, "INVALID UNREADABLE"],
    [`\ufeff${sound}`, "INVALID UNREADABLE"],
    [`{"a":${"[".repeat(100_000)}`, "INVALID UNREADABLE"],
    [`${sound.slice(0, -1)},"padding":"${"x".repeat(64 << 10)}"}`, "INVALID UNREADABLE"],
  ];
  // An empty payload has the digest of nothing, which a registry need not hold.
  const pushed = cases.filter(([payload]) => payload !== "");
  await pushCosign(
    place,
    digest,
    pushed.map(([payload]) => layerOf(payload)),
  );
  const found = await verifiedSignatures(platform, place, digest, pushed.length);
  assert.deepEqual(
    found.map((each, at) => [pushed[at]?.[0].slice(0, 200), short(each)]),
    pushed.map(([payload, worth]) => [payload.slice(0, 200), worth]),
  );
});

test("signatures that are none, or of another algorithm than the key's, are nobody's", async () => {
  const { place, digest } = await image();
  const payload = cosignPayload(digest);
  const sound = Buffer.from(signed(key, payload), "base64");
  const hmac = createHmac("sha256", key.pem).update(payload).digest();
  const bytes: Buffer[] = [
    Buffer.from([0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00]),
    Buffer.from([0x30, 0x80]),
    Buffer.alloc(64, 1),
    Buffer.alloc(4_000, 0x30),
    hmac,
    Buffer.concat([sound, Buffer.from([0])]),
    sound.subarray(0, -1),
  ];
  const texts = [...bytes.map((each) => each.toString("base64")), "", "none", "%%%", `${sound.toString("base64")}!`];
  const annotate = (text: string): Record<string, string> => ({ "dev.cosignproject.cosign/signature": text });
  const layers = texts.map((text) => ({ mediaType: SIMPLE_SIGNING, content: payload, annotations: annotate(text) }));
  await pushCosign(place, digest, [...layers, { mediaType: SIMPLE_SIGNING, content: payload }]);
  const found = await verifiedSignatures(platform, place, digest, layers.length + 1);
  assert.deepEqual(found.map(short), [
    ...Array<string>(bytes.length).fill("UNTRUSTED OTHER_SIGNER"),
    "INVALID UNREADABLE",
    // It is base64 of three bytes.
    "UNTRUSTED OTHER_SIGNER",
    ...Array<string>(3).fill("INVALID UNREADABLE"),
  ]);
});

test("an attestation is no signature of the image, whatever the annotations say; other envelopes are invalid", async () => {
  const { place, digest } = await image();
  const other = `sha256:${"0".repeat(64)}`;
  const twice = inToto(digest, PROVENANCE).replace(
    '"predicateType"',
    '"predicateType":"https://sigstore.dev/cosign/sign/v1","predicateType"',
  );
  const sound = JSON.parse(envelopeBundle(key, inToto(digest, PROVENANCE))) as Record<string, unknown>;
  const cases: [content: string, mediaType: string, worth: string, predicate: string][] = [
    [JSON.stringify(sound), "application/vnd.dev.sigstore.bundle.v0.3+json", "TRUSTED", PROVENANCE],
    [
      envelopeBundle(key, inToto(other, PROVENANCE)),
      "application/vnd.dev.sigstore.bundle.v0.3+json",
      "INVALID OTHER_IMAGE",
      "",
    ],
    [envelopeBundle(key, twice), "application/vnd.dev.sigstore.bundle.v0.3+json", "INVALID UNREADABLE", ""],
    [
      JSON.stringify({ ...sound, mediaType: "application/json" }),
      "application/vnd.dev.sigstore.bundle.v0.3+json",
      "INVALID UNKNOWN_FORMAT",
      "",
    ],
    [
      JSON.stringify({ ...sound, messageSignature: {} }),
      "application/vnd.dev.sigstore.bundle.v0.3+json",
      "INVALID UNREADABLE",
      "",
    ],
    [JSON.stringify(envelope(key, inToto(digest, PROVENANCE), "text/plain")), DSSE, "INVALID OTHER_PAYLOAD", ""],
    [
      JSON.stringify({ ...envelope(key, inToto(digest, PROVENANCE)), payload: "e30" }),
      DSSE,
      "INVALID OTHER_PAYLOAD",
      "",
    ],
    [JSON.stringify({ ...envelope(key, inToto(digest, PROVENANCE)), signatures: [] }), DSSE, "INVALID UNREADABLE", ""],
    [
      JSON.stringify({ ...envelope(key, inToto(digest, PROVENANCE)), payloadType: `${IN_TOTO} ` }),
      DSSE,
      "INVALID OTHER_PAYLOAD",
      "",
    ],
  ];
  const pushed: string[] = [];
  for (const [content, mediaType] of cases) {
    const artifact = {
      artifactType: mediaType,
      subject: digest,
      layers: [
        {
          mediaType,
          content,
          annotations: { "dev.sigstore.bundle.predicateType": "https://sigstore.dev/cosign/sign/v1" },
        },
      ],
    };
    pushed.push(await pushArtifact(place, artifact));
  }
  const found = await verifiedSignatures(platform, place, digest, cases.length);
  const by = new Map(found.map((each) => [each.manifest, [short(each), each.predicateType]]));
  assert.deepEqual(
    pushed.map((each) => by.get(each)),
    // What a bundle of an unknown version holds is not verified, which is not the same as wrong.
    cases.map(([, , worth, predicate]) => [worth.replace("INVALID UNKNOWN", "UNTRUSTED UNKNOWN"), predicate]),
  );
});

test("a signer of one group says nothing of another's images, with the same key", async () => {
  const { place, digest } = await image();
  const { uid: elsewhere } = await platform.ok("POST", "/iam/v2/groups", { name: `other-${images}` });
  const shared = newKey();
  const theirs = await newSigner(platform, elsewhere, "theirs", [shared]);
  await pushCosign(place, digest, [cosignLayer(shared, cosignPayload(digest))]);
  const [signature] = await verifiedSignatures(platform, place, digest);
  assert.equal(short(signature), "UNTRUSTED OTHER_SIGNER");
  assert.ok(!JSON.stringify(signature).includes(theirs));
  // A group below says of its own repos alone: this one is in the organization.
  const { uid: below } = await platform.group(platform.organization, { name: "below" });
  await newSigner(platform, below, "below", [shared]);
  assert.deepEqual((await verifiedSignatures(platform, place, digest)).map(short), ["UNTRUSTED OTHER_SIGNER"]);
});

test("whoever pushes very many crowds out neither what others sign nor what is trusted, and they are counted", async () => {
  const { place, digest } = await image();
  const junk = sized(105, 600);
  for (let n = 0; n < junk; n++) await pushReferrer({ ...place, token: pushersToken }, digest, `{"n":${n}}`);
  const trusted = await pushReferrer(place, digest, envelopeBundle(key, inToto(digest, PROVENANCE)));
  const found = await eventually(async () => {
    const answer = await listSignatures(platform, place, digest);
    return !answer.pending && answer.signatures.some(({ manifest }) => manifest === trusted) && answer;
  });
  assert.equal(found.signatures.length, 100);
  assert.equal(found.leftOut, junk + 1 - 100);
  assert.equal(short(found.signatures.find(({ manifest }) => manifest === trusted)), "TRUSTED");
});
