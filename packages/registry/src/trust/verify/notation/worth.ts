import { SignatureCode, SignatureState, SignatureTime } from "@moorage/api/messages";
import type { Match, Segment, SignerSpec, SpecCertificates } from "../types.ts";
import { segmentsOf } from "../validity.ts";
import { nameOf, readCertificate } from "../../x509/certificate.ts";
import { validityOf } from "../../x509/chain.ts";
import { isOf, trustedIdentity } from "../../x509/distinguished-name.ts";
import type { SoundEnvelope } from "./envelope.ts";
import { pemToDer } from "../../x509/pem.ts";
import { verifiedTime } from "../../x509/timestamp.ts";

/** Between which times something had been signed by the word of somebody whom a signer lets say so, in ms since 1970. */
interface KnownTime {
  ms: number;
  untilMs: number;
  source: SignatureTime;
}

/** What a signer makes of a signature. `time`: when it was made by what the signer trusts. */
export interface SignerMatch {
  match: Match;
  time?: KnownTime;
}

interface Times {
  heldMs: number;
  nowMs: number;
}

/**
 * What the envelope is worth by a signer; undefined where the signer has no such certificates, or trusts none of its
 * chain.
 */
export function worthBy(envelope: SoundEnvelope, signer: SignerSpec, times: Times): SignerMatch | undefined {
  const { x509 } = signer;
  if (x509 === undefined) return undefined;
  const roots = x509.roots.map(pemToDer);
  const { certificates } = envelope;
  if (!certificates.some(({ der }) => roots.some((root) => root.equals(der)))) return undefined;
  const { fingerprint } = certificates[0];
  const answer = (segments: readonly Segment[]): Match => ({ signer: signer.uid, fingerprint, segments });
  const always = (worth: Omit<Segment, "fromMs">): SignerMatch => ({
    match: answer([{ fromMs: times.nowMs, ...worth }]),
  });
  const other = otherSigner(envelope, x509);
  if (other !== undefined)
    return always({ state: SignatureState.UNTRUSTED, code: SignatureCode.OTHER_SIGNER, reason: other });
  const revoked = certificates.find((each) => x509.revoked.includes(each.fingerprint));
  if (revoked !== undefined) {
    const reason = `the certificate of ${nameOf(revoked)} is revoked`;
    return always({ state: SignatureState.REVOKED, code: SignatureCode.REVOKED, reason });
  }
  const { known, problem } = knownTimes(envelope, signer, x509, times);
  const validity = validityOf(certificates);
  const { notBeforeMs, notAfterMs } = validity;
  const counted =
    known.find(({ ms, untilMs }) => ms >= notBeforeMs && untilMs < notAfterMs) ??
    known.find(({ untilMs }) => untilMs < notBeforeMs);
  const segments = segmentsOf(validity, counted?.ms, times.nowMs, "certificate").map((each) =>
    explained(each, problem),
  );
  const time = known.find(({ source }) => source !== SignatureTime.REGISTRY);
  const match = answer(untilExpiry(segments, envelope.headers.expiryMs, times.nowMs));
  return { match, ...(time !== undefined && { time }) };
}

/** Why a certificate that a root of the signer's has issued is somebody else's; undefined when it is not. */
function otherSigner({ certificates: [leaf], headers }: SoundEnvelope, x509: SpecCertificates): string | undefined {
  if (headers.isAuthority !== x509.isAuthority)
    return `it is by the scheme ${headers.isAuthority ? "SIGNING_AUTHORITY" : "X509"}, which the signer does not use`;
  if (x509.identities.some((each) => isOf(leaf.attributes, trustedIdentity(each)))) return undefined;
  return `its certificate is one of ${nameOf(leaf)}, which is none of the signer's identities`;
}

/** When it was signed by whose word the signer lets count. `problem`: why a time stamp says nothing of it. */
function knownTimes(
  { headers, timestamp, signature }: SoundEnvelope,
  { times }: SignerSpec,
  { tsaRoots, revoked }: SpecCertificates,
  { heldMs }: Times,
): { known: KnownTime[]; problem?: string } {
  const counts = (time: SignatureTime): boolean =>
    times.length === 0 ? time === SignatureTime.TIMESTAMP : times.includes(time);
  const known: KnownTime[] = counts(SignatureTime.REGISTRY)
    ? [{ ms: heldMs, untilMs: heldMs, source: SignatureTime.REGISTRY }]
    : [];
  if (!counts(SignatureTime.TIMESTAMP)) return { known };
  const source = SignatureTime.TIMESTAMP;
  if (headers.signedMs !== undefined)
    return { known: [{ ms: headers.signedMs, untilMs: headers.signedMs, source }, ...known] };
  if (timestamp === undefined || tsaRoots.length === 0) return { known };
  try {
    const roots = tsaRoots.map((pem) => readCertificate(pemToDer(pem)));
    const { fromMs, untilMs } = verifiedTime(timestamp, signature, { roots, revoked: new Set(revoked) });
    return { known: [{ ms: fromMs, untilMs, source }, ...known] };
  } catch (error) {
    return { known, problem: (error as Error).message.slice(0, MAX_PROBLEM) };
  }
}

const MAX_PROBLEM = 200;

function explained(segment: Segment, problem: string | undefined): Segment {
  if (problem === undefined || segment.state !== SignatureState.EXPIRED) return segment;
  return { ...segment, reason: `${segment.reason}; its time stamp does not count: ${problem}` };
}

/** The segments as far as the signature itself says that it counts. */
function untilExpiry(segments: readonly Segment[], expiryMs: number | undefined, nowMs: number): Segment[] {
  if (expiryMs === undefined) return [...segments];
  const reason = `it counts until ${new Date(expiryMs).toISOString()} by its own word`;
  const ended = { state: SignatureState.EXPIRED, code: SignatureCode.EXPIRED, reason };
  const before = segments
    .filter(({ fromMs }) => fromMs < expiryMs)
    .map((each) => ({ ...each, untilMs: Math.min(each.untilMs ?? Infinity, expiryMs) }));
  return [...before, { fromMs: Math.max(nowMs, expiryMs), ...ended }];
}
