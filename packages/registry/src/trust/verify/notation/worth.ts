import { SignatureCode, SignatureState, SignatureTime } from "@moorage/api/messages";
import type { AskedStatuses, StatusNeed } from "../statuses.ts";
import type { Match, Segment, SignerSpec, SpecCertificates } from "../types.ts";
import { segmentsOf } from "../validity.ts";
import { nameOf } from "../../x509/certificate.ts";
import { validityOf } from "../../x509/chain.ts";
import { isOf, trustedIdentity } from "../../x509/distinguished-name.ts";
import type { SoundEnvelope } from "./envelope.ts";
import { onlineStatus, type OnlineStatus } from "./online.ts";
import { type KnownTime, knownTimes } from "./signature-times.ts";
import { listToDer, pemToDer } from "../../x509/pem.ts";
import { readRevocationList, type Revocation, type RevocationList, revocationOf } from "../../x509/revocation-list.ts";

type Worth = Omit<Segment, "fromMs">;
const NO_LISTS: Revocation = { untilMs: Infinity };

interface Times {
  heldMs: number;
  nowMs: number;
}

interface Given extends Times {
  /** What authorities say of certificates. */
  asked: AskedStatuses;
}

/** What a signer makes of a signature. `time`: when it was made by what the signer trusts. */
export interface SignerMatch {
  match: Match;
  time?: KnownTime;
  /** The certificates whose authorities are to be asked about them for the signer. */
  needs: readonly StatusNeed[];
}

/**
 * What the envelope is worth by a signer; undefined where the signer has no such certificates, or trusts none of its
 * chain.
 */
export function worthBy(envelope: SoundEnvelope, signer: SignerSpec, times: Given): SignerMatch | undefined {
  const { x509 } = signer;
  if (x509 === undefined) return undefined;
  const roots = x509.roots.map(pemToDer);
  const { certificates } = envelope;
  if (!certificates.some(({ der }) => roots.some((root) => root.equals(der)))) return undefined;
  const { fingerprint } = certificates[0];
  const answer = (segments: readonly Segment[]): Match => ({ signer: signer.uid, fingerprint, segments });
  const always = (worth: Worth, needs: readonly StatusNeed[] = []): SignerMatch => ({
    match: answer([{ fromMs: times.nowMs, ...worth }]),
    needs,
  });
  const other = otherSigner(envelope, x509);
  if (other !== undefined)
    return always({ state: SignatureState.UNTRUSTED, code: SignatureCode.OTHER_SIGNER, reason: other });
  const revoked = certificates.find((each) => x509.revoked.includes(each.fingerprint));
  if (revoked !== undefined) {
    const reason = `the certificate of ${nameOf(revoked)} is revoked`;
    return always({ state: SignatureState.REVOKED, code: SignatureCode.REVOKED, reason });
  }
  const lists = x509.crls.map(readList);
  const { known, problem } = knownTimes(envelope, signer, x509, { heldMs: times.heldMs, lists });
  const revocation = lists.length === 0 ? NO_LISTS : revocationOf(certificates, lists);
  const online = x509.isOnline ? onlineStatus(certificates, times.asked) : undefined;
  const { needs = [] } = online ?? {};
  const listed = worthByLists(revocation, known) ?? (online && worthByAuthorities(online, known));
  if (listed !== undefined) return always(listed, needs);
  const validity = validityOf(certificates);
  const { notBeforeMs, notAfterMs } = validity;
  const counted =
    known.find(({ ms, untilMs }) => ms >= notBeforeMs && untilMs < notAfterMs) ??
    known.find(({ untilMs }) => untilMs < notBeforeMs);
  const segments = segmentsOf(validity, counted?.ms, times.nowMs, "certificate").map((each) =>
    explained(each, problem),
  );
  const time = known.find(({ source }) => source !== SignatureTime.REGISTRY);
  const current = until(
    segments,
    revocation.untilMs,
    (day) => `the lists of revoked certificates hold until ${day}`,
    times,
  );
  const said = current.map((each) => (isTrusted(each) ? { ...each, reason: online?.said ?? "" } : each));
  const answered = until(said, online?.untilMs, () => online?.ended ?? "", times);
  const ended = until(answered, envelope.headers.expiryMs, (day) => `it counts until ${day} by its own word`, times);
  const match = answer(ended);
  return { match, needs, ...(time !== undefined && { time }) };
}

/** What a signature is worth whose certificates are revoked by lists, or are on none; undefined for others. */
function worthByLists({ revoked, unknown }: Revocation, known: readonly KnownTime[]): Worth | undefined {
  if (revoked !== undefined && !known.some(({ untilMs }) => untilMs < revoked.sinceMs)) {
    const reason = `a list says that the certificate of ${revoked.name} is revoked`;
    return { state: SignatureState.REVOKED, code: SignatureCode.REVOKED, reason };
  }
  if (unknown === undefined) return undefined;
  const reason = `no list of the signer says whether the certificate of ${unknown} is revoked`;
  return { state: SignatureState.INVALID, code: SignatureCode.BAD_CERTIFICATE, reason };
}

/** The same by the answers of authorities. */
function worthByAuthorities({ revoked, unknown }: OnlineStatus, known: readonly KnownTime[]): Worth | undefined {
  if (revoked === undefined || known.some(({ untilMs }) => untilMs < revoked.sinceMs)) return unknown;
  return { state: SignatureState.REVOKED, code: SignatureCode.REVOKED, reason: revoked.reason };
}

/** Why a certificate that a root of the signer's has issued is somebody else's; undefined when it is not. */
function otherSigner({ certificates: [leaf], headers }: SoundEnvelope, x509: SpecCertificates): string | undefined {
  if (headers.isAuthority !== x509.isAuthority)
    return `it is by the scheme ${headers.isAuthority ? "SIGNING_AUTHORITY" : "X509"}, which the signer does not use`;
  if (x509.identities.some((each) => isOf(leaf.attributes, trustedIdentity(each)))) return undefined;
  return `its certificate is one of ${nameOf(leaf)}, which is not among the signer's identities`;
}

function isTrusted({ state }: Segment): boolean {
  return state === SignatureState.TRUSTED;
}

function explained(segment: Segment, problem: string | undefined): Segment {
  if (problem === undefined || segment.state !== SignatureState.EXPIRED) return segment;
  return { ...segment, reason: `${segment.reason}; its time stamp does not count: ${problem}` };
}

/** The segments as far as they hold until then; without an end as they are. */
function until(
  segments: readonly Segment[],
  endMs: number | undefined,
  reasonOf: (day: string) => string,
  { nowMs }: Times,
): readonly Segment[] {
  if (endMs === undefined || !Number.isFinite(endMs)) return segments;
  const reason = reasonOf(new Date(endMs).toISOString());
  const before = segments
    .filter(({ fromMs }) => fromMs < endMs)
    .map((each) => ({ ...each, untilMs: Math.min(each.untilMs ?? Infinity, endMs) }));
  const ended = { state: SignatureState.EXPIRED, code: SignatureCode.EXPIRED, reason };
  return [...before, { fromMs: Math.max(nowMs, endMs), ...ended }];
}

const listsRead = new Map<string, RevocationList>();
const MAX_READ = 20;

/** Reads a list, once for the signatures that follow each other: they may be long. */
function readList(pem: string): RevocationList {
  const list = listsRead.get(pem) ?? readRevocationList(listToDer(pem));
  if (listsRead.size >= MAX_READ) listsRead.clear();
  listsRead.set(pem, list);
  return list;
}
