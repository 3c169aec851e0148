import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { eventually } from "./eventually.ts";
import type { Place } from "./catalog/place.ts";
import { type Artifact, pushArtifact } from "./catalog/push.ts";
import type { Platform } from "./platform.ts";
import { nextRsaKeys } from "./rsa-keys.ts";

/** A key pair of somebody who signs. */
export interface SigningKey {
  privateKey: KeyObject;
  pem: string;
}

export type KeyType = "P-256" | "P-384" | "P-521" | "rsa" | "ed25519";

export function newKey(type: KeyType = "P-256"): SigningKey {
  const { publicKey, privateKey } =
    type === "rsa"
      ? nextRsaKeys()
      : type === "ed25519"
        ? generateKeyPairSync("ed25519")
        : generateKeyPairSync("ec", { namedCurve: type });
  return { privateKey, pem: publicKey.export({ type: "spki", format: "pem" }).toString() };
}

export const SIMPLE_SIGNING = "application/vnd.dev.cosign.simplesigning.v1+json";
export const DSSE = "application/vnd.dsse.envelope.v1+json";
export const BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json";
export const IN_TOTO = "application/vnd.in-toto+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
export const COSIGN_SIGN = "https://sigstore.dev/cosign/sign/v1";
export const PROVENANCE = "https://slsa.dev/provenance/v1";

/** The payload that cosign 2 signs of an image, in the form in which it writes it. Source: SIGNATURE_SPEC.md. */
export function cosignPayload(
  digest: string,
  reference = "registry.example.com/acme/app",
  optional: object | null = null,
): string {
  return JSON.stringify({
    critical: {
      identity: { "docker-reference": reference },
      image: { "docker-manifest-digest": digest },
      type: "cosign container image signature",
    },
    optional,
  });
}

/** The bytes signed with the hash that cosign takes for the key. */
export function signed({ privateKey }: SigningKey, message: string | Uint8Array, hash = "sha256"): string {
  const type = privateKey.asymmetricKeyType;
  return sign(type === "ed25519" ? null : hash, Buffer.from(message as string), privateKey).toString("base64");
}

/** A layer of cosign 2: a payload with its signature. */
export function cosignLayer(key: SigningKey, payload: string, hash?: string): Artifact["layers"][number] {
  const annotations = { "dev.cosignproject.cosign/signature": signed(key, payload, hash) };
  return { mediaType: SIMPLE_SIGNING, content: payload, annotations };
}

/** The tag of cosign for what is about the digest. */
export const tagFor = (digest: string, ending: "sig" | "att"): string => `${digest.replace(":", "-")}.${ending}`;

/** Pushes signatures as cosign 2 does: layers of one manifest below a tag. Answers its digest. */
export async function pushCosign(place: Place, digest: string, layers: Artifact["layers"]): Promise<string> {
  const config = { mediaType: CONFIG, content: JSON.stringify({ architecture: "", os: "", rootfs: {} }) };
  return await pushArtifact(place, { reference: tagFor(digest, "sig"), config, layers });
}

/** An in-toto statement about the digest. Source: in-toto/attestation, spec/v1/statement.md. */
export function inToto(digest: string, predicateType: string, predicate: object = {}, subject: object = {}): string {
  const [algorithm = "", hex] = digest.split(":");
  return JSON.stringify({
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: "app", ...subject, digest: { [algorithm]: hex } }],
    predicateType,
    predicate,
  });
}

/** A DSSE envelope. Source: secure-systems-lab/dsse, protocol.md. */
export function envelope(key: SigningKey, payload: string, payloadType = IN_TOTO): Record<string, unknown> {
  const size = (text: string): number => Buffer.byteLength(text);
  const message = `DSSEv1 ${size(payloadType)} ${payloadType} ${size(payload)} ${payload}`;
  return {
    payloadType,
    payload: Buffer.from(payload).toString("base64"),
    signatures: [{ keyid: "", sig: signed(key, message) }],
  };
}

const MATERIAL = { publicKey: { hint: "any" }, tlogEntries: [], timestampVerificationData: { rfc3161Timestamps: [] } };

/** A bundle of Sigstore with an envelope, made with a key, as cosign 3 stores it without a log. */
export function envelopeBundle(key: SigningKey, payload: string): string {
  return JSON.stringify({ mediaType: BUNDLE, verificationMaterial: MATERIAL, dsseEnvelope: envelope(key, payload) });
}

/** A bundle of Sigstore with a signature of bytes. */
export function messageBundle(key: SigningKey, message: Uint8Array): string {
  const digest = createHash("sha256").update(message).digest("base64");
  const messageSignature = { messageDigest: { algorithm: "SHA2_256", digest }, signature: signed(key, message) };
  return JSON.stringify({ mediaType: BUNDLE, verificationMaterial: MATERIAL, messageSignature });
}

/** Pushes a referrer with one layer of this type, as cosign 3 and GitHub do. Answers its digest. */
export async function pushReferrer(
  place: Place,
  subject: string,
  content: string | Uint8Array,
  mediaType = BUNDLE,
  artifactType = mediaType,
): Promise<string> {
  return await pushArtifact(place, { artifactType, subject, layers: [{ mediaType, content }] });
}

/** A signature as the API answers it. */
export interface ListedSignature {
  manifest: string;
  source: string;
  format: string;
  predicateType: string;
  state: string;
  code: string;
  reason: string;
  number: number;
  attachedBy: string;
  identity: string;
  signedTime?: string;
  timeSource: string;
  verdicts: {
    signer: string;
    signerName: string;
    state: string;
    code: string;
    reason: string;
    fingerprint: string;
    untilTime?: string;
  }[];
}

export interface ListedSignatures {
  signatures: ListedSignature[];
  counts: { state: string; code: string; count: number }[];
  leftOut: number;
  pending: boolean;
}

/** The signatures of an image as they are now, or as of a time. */
export async function listSignatures(
  platform: Platform,
  { repo }: Pick<Place, "repo">,
  digest: string,
  asOf?: string,
): Promise<ListedSignatures> {
  const query = asOf === undefined ? "" : `?asOf=${asOf}`;
  return await platform.ok<ListedSignatures>("GET", `/registry/v2/repos/${repo}/digests/${digest}/signatures${query}`);
}

/** The same once nothing waits any longer, and there are so many. */
export async function verifiedSignatures(
  platform: Platform,
  place: Pick<Place, "repo">,
  digest: string,
  count = 1,
): Promise<ListedSignature[]> {
  return await eventually(async () => {
    const { signatures, pending } = await listSignatures(platform, place, digest);
    const isWaiting = signatures.some(
      ({ state, verdicts }) => isWaitingState(state) || verdicts.some((each) => isWaitingState(each.state)),
    );
    return !pending && !isWaiting && signatures.length === count && signatures;
  });
}

const isWaitingState = (state: string): boolean => state === "SIGNATURE_STATE_WAITING";

/** Makes a signer of these keys. Answers its uid. */
export async function newSigner(
  platform: Platform,
  group: string,
  name: string,
  keys: readonly (SigningKey | Record<string, unknown>)[],
  fields: object = {},
): Promise<string> {
  const body = { name, keys: keys.map(({ privateKey: _privateKey, ...key }): object => key), ...fields };
  return (await platform.ok("POST", `/registry/v2/signers/${group}`, body)).uid;
}

/** What is said of each signature, shortly: its state and code without their prefixes. */
export function short({ state, code }: { state: string; code: string } = { state: "none", code: "" }): string {
  const [one, other] = [state.replace("SIGNATURE_STATE_", ""), code.replace("SIGNATURE_CODE_", "")];
  return other === "UNSPECIFIED" ? one : `${one} ${other}`;
}
