import { SignatureCode, SignatureFormat, SignatureTime } from "@moorage/api/messages";
import { DSSE, isBundle, isNotation, SIMPLE_SIGNING } from "../attached/formats.ts";
import { type PublicKey, publicKeyOf } from "../signers/public-key.ts";
import { bundle } from "./bundle.ts";
import { dsse } from "./dsse.ts";
import { isSignedBy } from "./key-verify.ts";
import { type SignedBytes, simpleSigning } from "./simple-signing.ts";
import { strictObject } from "./statement.ts";
import {
  type Match,
  type Signed,
  SignatureError,
  type SignedLayer,
  type SignerSpec,
  type SpecKey,
  type VerifiedEntry,
} from "./types.ts";
import { segmentsOf } from "./validity.ts";

const MAX_REASON = 500;

/**
 * Verifies the signatures in the layers of a manifest, each as one about the subject, against each signer. Whatever goes
 * wrong with one is its answer; the others are verified all the same.
 */
export function verifySigned(signed: Signed): VerifiedEntry[] {
  const signers = signed.signers.map(({ uid, keys, times }) => ({
    uid,
    times,
    keys: keys.map((spec) => ({ spec, ...publicKeyOf(spec.pem) })),
  }));
  return signed.layers.map((layer) => entryOf(signed, layer, signers));
}

/** A signer with its keys, read once for all signatures. */
interface ReadSigner extends Pick<SignerSpec, "uid" | "times"> {
  keys: readonly (PublicKey & { spec: SpecKey })[];
}

function entryOf(signed: Signed, layer: SignedLayer, signers: readonly ReadSigner[]): VerifiedEntry {
  const format = formatOf(layer.mediaType);
  const entry: VerifiedEntry = {
    n: layer.n,
    format,
    predicateType: "",
    identity: "",
    timeSource: SignatureTime.UNSPECIFIED,
    code: SignatureCode.UNSPECIFIED,
    reason: "",
    matches: [],
  };
  try {
    const { predicateType = "", ...bytes } = openLayer(signed, layer, format);
    return { ...entry, predicateType, matches: signers.flatMap((signer) => matchOf(signed, bytes, signer) ?? []) };
  } catch (error) {
    // A fault of this program in what somebody else made is an answer, too: it must not count as signed.
    const code = error instanceof SignatureError ? error.code : SignatureCode.UNREADABLE;
    const reason = error instanceof Error ? error.message : String(error);
    return { ...entry, code, reason: reason.slice(0, MAX_REASON).toWellFormed().replaceAll("\0", "\ufffd") };
  }
}

function formatOf(mediaType: string): SignatureFormat {
  if (mediaType === SIMPLE_SIGNING) return SignatureFormat.SIMPLE_SIGNING;
  if (mediaType === DSSE) return SignatureFormat.DSSE;
  if (isBundle(mediaType)) return SignatureFormat.BUNDLE;
  return isNotation(mediaType) ? SignatureFormat.NOTATION : SignatureFormat.UNSPECIFIED;
}

function openLayer(
  { subject, subjectContent }: Signed,
  { mediaType, content, annotations }: SignedLayer,
  format: SignatureFormat,
): SignedBytes & { predicateType?: string } {
  if (format === SignatureFormat.NOTATION)
    throw new SignatureError(SignatureCode.UNKNOWN_FORMAT, "envelopes of Notation are not verified by this version");
  if (format === SignatureFormat.UNSPECIFIED)
    throw new SignatureError(
      SignatureCode.UNKNOWN_FORMAT,
      `a layer of the type ${mediaType.slice(0, 200)} is not verified`,
    );
  if (typeof content === "string") throw new SignatureError(SignatureCode.UNREADABLE, content);
  if (format === SignatureFormat.SIMPLE_SIGNING) return simpleSigning(content, annotations, subject);
  if (format === SignatureFormat.DSSE) return dsse(strictObject(content, "the envelope"), subject);
  return bundle(content, subject, subjectContent);
}

/** How the signer has made one of the signatures of the bytes; undefined when it has made none. */
function matchOf(
  { heldMs, nowMs }: Signed,
  { message, signatures }: SignedBytes,
  { uid, keys, times }: ReadSigner,
): Match | undefined {
  for (const { spec, key, fingerprint } of keys) {
    if (!signatures.some((signature) => isSignedBy(key, message, signature))) continue;
    const signedMs = times.includes(SignatureTime.REGISTRY) ? heldMs : undefined;
    return { signer: uid, fingerprint, segments: segmentsOf(spec, signedMs, nowMs) };
  }
  return undefined;
}
