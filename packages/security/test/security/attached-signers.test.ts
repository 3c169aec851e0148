// Who has signed the documents that are attached to an image.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushArtifact } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { openSignedRepo } from "../../../server/test/support/signed-repo.ts";
import {
  envelopeBundle,
  inToto,
  newKey,
  newSigner,
  pushReferrer,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";

const OPENVEX = "application/openvex+json";

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
});
after(() => platform.close());

function vex(author: string): object {
  return {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": `https://acme.example/vex/${author}`,
    author,
    timestamp: "2026-11-01T08:00:00Z",
    version: 1,
    statements: [
      {
        vulnerability: { name: "CVE-2026-1" },
        products: [{ "@id": "pkg:npm/bad@1.0.0" }],
        status: "under_investigation",
      },
    ],
  };
}

test("attachments name who has signed them: an attestation, a signature of the document, nobody", async () => {
  const repo = await openSignedRepo(platform);
  const [key, other] = [newKey(), newKey()];
  await newSigner(platform, platform.organization, "vex", [key]);
  const signer = await newSigner(platform, repo.group, "reviewers", [other]);
  const digest = await repo.push("v1");
  const layers = (author: string) => [{ mediaType: OPENVEX, content: JSON.stringify(vex(author)) }];
  const plain = await pushArtifact(repo, { artifactType: OPENVEX, subject: digest, layers: layers("plain") });
  const signed = await pushArtifact(repo, { artifactType: OPENVEX, subject: digest, layers: layers("signed") });
  await repo.sign(signed, other);
  const statement = inToto(digest, "https://openvex.dev/ns/v0.2.0", vex("attested"));
  const attested = await pushReferrer(repo, digest, envelopeBundle(key, statement));
  await verifiedSignatures(platform, repo, digest);
  const signersOf = async (count: number): Promise<Record<string, string[]>> =>
    await eventually(async () => {
      const path = `/registry/v2/repos/${repo.repo}/digests/${digest}/attachments`;
      const { attachments = [] } = (await platform.ok("GET", path)) as unknown as {
        attachments?: { manifest: string; state: string; signers: string[] }[];
      };
      const isRead = attachments.length === count && attachments.every(({ state }) => state === "STATE_READ");
      return isRead && Object.fromEntries(attachments.map(({ manifest, signers }) => [manifest, signers]));
    });
  assert.deepEqual(await signersOf(3), { [plain]: [], [signed]: ["reviewers"], [attested]: ["vex"] });
  // What a signer said before does not count, whether it has been verified anew or not.
  await platform.ok("PATCH", `/registry/v2/signers/${signer}?updateMask=keys`, { keys: [{ pem: newKey().pem }] });
  assert.deepEqual(await signersOf(3), { [plain]: [], [signed]: [], [attested]: ["vex"] });
});
