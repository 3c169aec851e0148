// Signatures that are pushed before what they sign, as copies of repositories may do.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newRepoPlace } from "../../../server/test/support/catalog/place.ts";
import { deleteReference, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { newChain } from "../../../server/test/support/notation-certificates.ts";
import { newX509Signer } from "../../../server/test/support/notation-repo.ts";
import {
  COSE,
  coseEnvelope,
  jwsEnvelope,
  MANIFEST,
  payloadOf,
  pushNotation,
} from "../../../server/test/support/notation-signing.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import {
  listSignatures,
  messageBundle,
  newKey,
  newSigner,
  pushReferrer,
  short,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

test("what signs the bytes of an image that is not here yet is verified once that is pushed", async () => {
  const key = newKey();
  const chain = newChain();
  await newSigner(platform, platform.organization, "key", [key]);
  await newX509Signer(platform, platform.organization, { roots: [chain[2].pem] });
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const place = await newRepoPlace(platform, token);
  const digest = await pushLayers(place, "v1", [Buffer.from("a layer")]);
  const url = `${platform.url}/v2/${place.name}/manifests/${digest}`;
  const headers = { authorization: `Bearer ${token}`, "content-type": MANIFEST };
  const image = Buffer.from(await (await fetch(url, { headers })).arrayBuffer());
  await deleteReference(place, digest);

  const payload = payloadOf(digest, image.byteLength);
  await pushReferrer(place, digest, messageBundle(key, image));
  await pushNotation(place, digest, await jwsEnvelope(chain, payload));
  await pushNotation(place, digest, coseEnvelope(chain, payload), { mediaType: COSE });
  const early = await verifiedSignatures(platform, place, digest, 3);
  assert.deepEqual(early.map(short), Array(3).fill("INVALID UNREADABLE"));

  assert.equal((await fetch(url, { method: "PUT", headers, body: image })).status, 201);
  const late = await eventually(async () => {
    const { signatures } = await listSignatures(platform, place, digest);
    return signatures.every(({ state }) => state === "SIGNATURE_STATE_TRUSTED") && signatures;
  });
  assert.equal(late.length, 3);
});
