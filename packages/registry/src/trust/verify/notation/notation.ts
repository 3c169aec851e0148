import { SignatureCode, SignatureTime } from "@moorage/api/messages";
import type { Claims } from "../../claims/claims.ts";
import { NOT_HELD } from "../../missing-subject.ts";
import { type Match, type Signed, SignatureError, type SignedLayer, type SignerSpec } from "../types.ts";
import { algorithmOf, isSignedBy } from "../../x509/algorithms.ts";
import { CertificateError, nameOf, readCertificate } from "../../x509/certificate.ts";
import { requireSigningChain } from "../../x509/chain.ts";
import type { AskedStatuses, StatusNeed } from "../statuses.ts";
import { readCose } from "./cose.ts";
import { type Envelope, type SoundEnvelope, unreadable } from "./envelope.ts";
import { readJws } from "./jws.ts";
import { payloadClaims } from "./payload.ts";
import { worthBy } from "./worth.ts";

const MAX_ENVELOPE = 1 << 20;
const JOSE = "application/jose+json";

/** A signature of Notation, and what it is worth by each signer who trusts a certificate of its chain. */
export interface VerifiedNotation {
  identity: string;
  claims: Claims;
  matches: Match[];
  /** When it was made, where everybody who trusts it lets that be said. */
  signedMs?: number;
  timeSource: SignatureTime;
  /** The certificates whose authorities are to be asked about them. */
  needs: StatusNeed[];
}

const NOT_ASKED: AskedStatuses = { statuses: {}, isAsking: false };

/**
 * Verifies an envelope as a signature of the subject. Throws a SignatureError for what is wrong with it whoever signs.
 * Source: notaryproject/specifications, signature-specification.md, trust-store-trust-policy.md.
 */
export function verifyNotation(
  {
    subject,
    subjectContent,
    subjectMediaType = "",
    asked = NOT_ASKED,
    heldMs,
    nowMs,
  }: Pick<Signed, "subject" | "subjectContent" | "subjectMediaType" | "asked" | "heldMs" | "nowMs">,
  { mediaType, content }: Pick<SignedLayer, "mediaType"> & { content: Uint8Array },
  signers: readonly SignerSpec[],
): VerifiedNotation {
  if (content.length > MAX_ENVELOPE) throw unreadable(`the envelope is larger than ${MAX_ENVELOPE} bytes`);
  if (subjectContent === undefined) throw unreadable(NOT_HELD);
  const envelope = sound(mediaType === JOSE ? readJws(content) : readCose(content));
  const target = { digest: subject, mediaType: subjectMediaType, size: subjectContent.length };
  const claims = payloadClaims(envelope.payload, target);
  const found = signers.flatMap((signer) => worthBy(envelope, signer, { heldMs, nowMs, asked }) ?? []);
  const times = found.flatMap(({ time }) => time ?? []);
  const [first] = times.toSorted((one, other) => other.ms - one.ms);
  const isSaid = first !== undefined && times.length === found.length;
  return {
    identity: nameOf(envelope.certificates[0]),
    claims,
    matches: found.map(({ match }) => match),
    ...(isSaid && { signedMs: first.ms }),
    timeSource: isSaid ? first.source : SignatureTime.UNSPECIFIED,
    // Those of one chain: whoever asks about it asks about all of it.
    needs: [...(found.find(({ needs }) => needs.length > 0)?.needs ?? [])],
  };
}

/** Throws a SignatureError unless the certificate's key has signed, and may. */
function sound(envelope: Envelope): SoundEnvelope {
  const certificates = certificatesOf(envelope);
  const [leaf] = certificates;
  const algorithm = algorithmOf(leaf.key);
  if (algorithm === undefined || !envelope.isBy(algorithm))
    throw new SignatureError(SignatureCode.UNREADABLE, "its algorithm is not that of its certificate's key");
  if (!isSignedBy(leaf.key, algorithm, envelope))
    throw new SignatureError(SignatureCode.BAD_CERTIFICATE, "its signature is not by its certificate");
  return { ...envelope, certificates };
}

function certificatesOf({ chain }: Envelope): SoundEnvelope["certificates"] {
  try {
    const [leaf, ...others] = chain.map(readCertificate);
    if (leaf === undefined) throw unreadable("it has no certificate");
    requireSigningChain([leaf, ...others]);
    return [leaf, ...others];
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    throw new SignatureError(SignatureCode.BAD_CERTIFICATE, error.message);
  }
}
