// Signatures that cosign does not make itself, in forms that one of the two reads and the other does not.
import { constants, sign } from "node:crypto";
import {
  COSIGN_SIGN,
  cosignLayer,
  cosignPayload,
  envelopeBundle,
  inToto,
  messageBundle,
  pushCosign,
  pushReferrer,
  SIMPLE_SIGNING,
} from "../signing.ts";
import { agree, asBundle, asTag, differ, HASH, verify } from "./asks.ts";
import type { Row, Signing } from "./rows.ts";

const signer = { keys: ["p256"] } as const;
const ask = verify("p256");
const payloadRow = (payload: (digest: string) => string): Pick<Row, "attach" | "signer" | "ask"> => ({
  attach: ({ repo, digest, keys }) => pushCosign(repo, digest, [cosignLayer(keys.p256, payload(digest))]),
  signer,
  ask,
});
const byHash = (
  key: "p384" | "p521" | "rsa2048",
  hash: string,
  flags: string[],
): Pick<Row, "attach" | "signer" | "ask"> => ({
  attach: ({ repo, digest, keys }) => pushCosign(repo, digest, [cosignLayer(keys[key], cosignPayload(digest), hash)]),
  signer: { keys: [key] },
  ask: verify(key, ...flags),
});
/** The bytes of the image's manifest. */
async function manifestOf({ repo, digest }: Signing): Promise<Buffer> {
  const answer = await fetch(`${repo.url}/v2/${repo.name}/manifests/${digest}`, {
    headers: { authorization: `Bearer ${repo.token}` },
  });
  return Buffer.from(await answer.arrayBuffer());
}
const changed = (bundle: string, change: object): string =>
  JSON.stringify({ ...(JSON.parse(bundle) as object), ...change });

export const FORM_ROWS: readonly Row[] = [
  differ(
    "message",
    "a bundle with a signature of the manifest's bytes",
    "it signs the image as much as a statement about it does; cosign 3 takes envelopes alone from a registry",
    {
      attach: async (s) => pushReferrer(s.repo, s.digest, messageBundle(s.keys.p256, await manifestOf(s))),
      signer,
      ask,
      cosign: false,
    },
  ),
  differ(
    "version-2",
    "a bundle of version 0.2",
    "both versions hold the same of a key; cosign 3 takes 0.3 and later alone",
    {
      attach: ({ repo, digest, keys }) => {
        const mediaType = "application/vnd.dev.sigstore.bundle+json;version=0.2";
        const bundle = envelopeBundle(keys.p256, inToto(digest, COSIGN_SIGN));
        // A type of OCI has no parameters.
        return pushReferrer(repo, digest, changed(bundle, { mediaType }), mediaType.replace(/;.*/, ""));
      },
      signer,
      ask,
      cosign: false,
    },
  ),
  differ(
    "both-forms",
    "a tag by the signer, and a bundle by somebody else",
    "each signature counts by itself; cosign 3 looks at no tag once there is a bundle, whoever pushed it",
    {
      attach: async (s) => {
        await asTag("p256")(s);
        await asBundle("other")(s);
      },
      signer,
      ask,
      cosign: false,
    },
  ),
  agree("both-forms-tag", "the same, where cosign is asked for the tag", true, {
    attach: async (s) => {
      await asTag("p256")(s);
      await asBundle("other")(s);
    },
    signer,
    ask: verify("p256", "--new-bundle-format=false"),
  }),
  differ(
    "twice",
    "a payload in which the digest stands twice",
    "two programs may read two digests in it; cosign takes the last one",
    {
      ...payloadRow((digest) =>
        cosignPayload(digest).replace(
          '"docker-manifest-digest"',
          `"docker-manifest-digest":"sha256:${"0".repeat(64)}","docker-manifest-digest"`,
        ),
      ),
      cosign: true,
    },
  ),
  differ(
    "capitals",
    "a payload whose names are written in capitals",
    "names of JSON are compared as they are written; cosign reads them as Go does, in any letters",
    {
      ...payloadRow((digest) => cosignPayload(digest).replace('"image"', '"IMAGE"')),
      cosign: true,
    },
  ),
  differ(
    "other-type",
    "a payload of another type than that of cosign",
    "it was signed as something else; cosign does not look at the type",
    {
      ...payloadRow((digest) => cosignPayload(digest).replace("cosign container image signature", "a list of images")),
      cosign: true,
    },
  ),
  agree("p384-sha256", "P-384 with SHA-256", true, byHash("p384", "sha256", [HASH, "sha256"])),
  agree("p384-sha384", "P-384 with SHA-384", true, byHash("p384", "sha384", [])),
  agree("p521-sha512", "P-521 with SHA-512", true, byHash("p521", "sha512", [])),
  agree("rsa-sha1", "RSA with SHA-1", false, byHash("rsa2048", "sha1", [])),
  differ(
    "rsa-sha512",
    "RSA with SHA-512",
    "the key alone says the algorithm, and RSA's is SHA-256; cosign takes the hash that it is called with",
    {
      ...byHash("rsa2048", "sha512", [HASH, "sha512"]),
      cosign: true,
    },
  ),
  differ("rsa-pss", "RSA with PSS", "both paddings of RSA are sound; cosign takes PKCS #1 alone", {
    attach: ({ repo, digest, keys }) => {
      const payload = cosignPayload(digest);
      const key = { key: keys.rsa2048.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
      const annotations = {
        "dev.cosignproject.cosign/signature": sign("sha256", Buffer.from(payload), key).toString("base64"),
      };
      return pushCosign(repo, digest, [{ mediaType: SIMPLE_SIGNING, content: payload, annotations }]);
    },
    signer: { keys: ["rsa2048"] },
    ask: verify("rsa2048"),
    cosign: false,
  }),
];
