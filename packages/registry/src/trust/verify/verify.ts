import { SignatureCode, SignatureFormat, SignatureTime } from "@moorage/api/messages";
import { DSSE, isBundle, isNotation, SIMPLE_SIGNING } from "../attached/formats.ts";
import { type PublicKey, publicKeyOf } from "../signers/public-key.ts";
import { bundle } from "./bundle.ts";
import type { Claims } from "../claims/claims.ts";
import { dsse } from "./dsse.ts";
import { isSignedBy } from "./key-verify.ts";
import { bundleOfAnnotations, hasCertificate } from "./material.ts";
import { type SignedBytes, simpleSigning } from "./simple-signing.ts";
import { strictObject } from "./statement.ts";
import {
  type Match,
  type Signed,
  SignatureError,
  type SignedLayer,
  type SignerSpec,
  type SpecKey,
  type TrustedRoots,
  type VerifiedEntry,
} from "./types.ts";
import { segmentsOf } from "./validity.ts";

const MAX_REASON = 500;

/**
 * Verifies the signatures in the layers of a manifest, each as one about the subject, against each signer. Whatever
 * goes wrong with one is its answer; the others are verified all the same. `roots`: the trusted roots of Sigstore by
 * which identities are verified.
 */
export async function verifySigned(signed: Signed, roots: TrustedRoots = noRoot): Promise<VerifiedEntry[]> {
  const signers = signed.signers.map((signer) => ({
    ...signer,
    read: signer.keys.map((spec) => ({ spec, ...publicKeyOf(spec.pem) })),
  }));
  const entries: VerifiedEntry[] = [];
  for (const layer of signed.layers) entries.push(await entryOf({ ...signed, signers }, layer, roots));
  return entries;
}

const noRoot: TrustedRoots = () => ({ missing: "there is no trust root" });

/** A signer with its keys, read once for all signatures. */
interface ReadSigner extends SignerSpec {
  read: readonly (PublicKey & { spec: SpecKey })[];
}

type Reading = Omit<Signed, "signers"> & { signers: readonly ReadSigner[] };

async function entryOf(signed: Reading, layer: SignedLayer, roots: TrustedRoots): Promise<VerifiedEntry> {
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
    if (format === SignatureFormat.NOTATION) return { ...entry, ...(await notation(signed, layer)) };
    const { predicateType = "", certificate, claims, ...bytes } = openLayer(signed, layer, format);
    // Its libraries are loaded for the first signature with a certificate: most have none.
    const certified =
      certificate === undefined ? undefined : (await import("./keyless.ts")).certified(certificate, bytes, roots);
    const matches = signed.signers.flatMap(
      (signer) => keyMatch(signed, bytes, signer) ?? certified?.matchOf(signer, signed.nowMs) ?? [],
    );
    const { identity = "", signedMs, timeSource = SignatureTime.UNSPECIFIED } = certified ?? {};
    const made = { ...(signedMs !== undefined && { signedMs }), ...(matches.length > 0 && { claims }) };
    return { ...entry, predicateType, identity, timeSource, ...made, matches };
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

/** Its parsers are loaded for the first such signature, too. */
async function notation(signed: Reading, { mediaType, content }: SignedLayer): Promise<Partial<VerifiedEntry>> {
  if (typeof content === "string") throw new SignatureError(SignatureCode.UNREADABLE, content);
  const { verifyNotation } = await import("./notation/notation.ts");
  const { claims, ...found } = verifyNotation(signed, { mediaType, content }, signed.signers);
  return { ...found, ...(found.matches.length > 0 && { claims }) };
}

/** What was signed. `certificate`: the bundle that says who has signed, where that is not a key. */
interface Opened extends SignedBytes {
  predicateType?: string;
  claims: Claims;
  certificate?: Record<string, unknown> | undefined;
}

function openLayer(
  { subject, subjectContent }: Reading,
  { mediaType, content, annotations }: SignedLayer,
  format: SignatureFormat,
): Opened {
  if (format === SignatureFormat.UNSPECIFIED)
    throw new SignatureError(
      SignatureCode.UNKNOWN_FORMAT,
      `a layer of the type ${mediaType.slice(0, 200)} is not verified`,
    );
  if (typeof content === "string") throw new SignatureError(SignatureCode.UNREADABLE, content);
  if (format === SignatureFormat.SIMPLE_SIGNING) {
    const bytes = simpleSigning(content, annotations, subject);
    const [signature = new Uint8Array()] = bytes.signatures;
    return { ...bytes, certificate: bundleOfAnnotations(annotations, { message: content, signature }) };
  }
  if (format === SignatureFormat.DSSE) {
    const envelope = strictObject(content, "the envelope");
    return { ...dsse(envelope, subject), certificate: bundleOfAnnotations(annotations, { envelope }) };
  }
  const value = strictObject(content, "the bundle");
  return { ...bundle(value, subject, subjectContent), ...(hasCertificate(value) && { certificate: value }) };
}

/** How a key of the signer has made one of the signatures of the bytes; undefined when none has. */
function keyMatch(
  { heldMs, nowMs }: Reading,
  { message, signatures }: SignedBytes,
  { uid, read, times }: ReadSigner,
): Match | undefined {
  for (const { spec, key, fingerprint } of read) {
    if (!signatures.some((signature) => isSignedBy(key, message, signature))) continue;
    const signedMs = times.includes(SignatureTime.REGISTRY) ? heldMs : undefined;
    return { signer: uid, fingerprint, segments: segmentsOf(spec, signedMs, nowMs) };
  }
  return undefined;
}
