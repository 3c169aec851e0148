import { SignatureCode, SignatureState } from "@moorage/api/messages";
import { type Certificate, nameOf } from "../../x509/certificate.ts";
import { type StatusPlace, statusPlace } from "../../x509/status-place.ts";
import { type AskedStatuses, type KnownStatus, statusKey, type StatusNeed } from "../statuses.ts";
import type { Segment } from "../types.ts";

type Worth = Omit<Segment, "fromMs">;

/** What authorities say of a chain. */
export interface OnlineStatus {
  /** The certificates that they are to be asked about. */
  needs: readonly StatusNeed[];
  /** A certificate of it that is revoked: since when it does not count, the earliest, and how that is said. */
  revoked?: { sinceMs: number; reason: string };
  /** What the signature is worth, since it is not known of some certificate whether it is revoked. */
  unknown?: Worth;
  /** Until when the answers count, and what is said from then on. */
  untilMs: number;
  ended: string;
  /** What they say, of a signature that holds. */
  said: string;
}

const NOT_REVOKED = "its authorities say that no certificate of its chain is revoked";
const OFF = "MOORAGE_REVOCATION is off, so that no authority is asked";

/** What is kept of the authorities' answers on all certificates of the chain but its root. */
export function onlineStatus(chain: readonly Certificate[], asked: AskedStatuses): OnlineStatus {
  const found: Found = { needs: [], untilMs: Infinity, ended: "", said: "" };
  for (const [at, certificate] of chain.slice(0, -1).entries()) {
    const issuer = chain[at + 1];
    if (issuer !== undefined) add(found, { certificate, issuer }, asked);
  }
  if (found.revoked !== undefined) found.said = `${found.revoked.reason}, and it was signed before`;
  else if (found.needs.length > 0) found.said = `${NOT_REVOKED}${found.said}`;
  return found;
}

type Found = { -readonly [Name in keyof OnlineStatus]: OnlineStatus[Name] };

function add(
  found: Found,
  { certificate, issuer }: { certificate: Certificate; issuer: Certificate },
  { statuses, isAsking }: AskedStatuses,
): void {
  const name = nameOf(certificate);
  const place = placeOf(certificate);
  if (place === undefined) {
    const reason = `${notKnown(name)}: it names neither a responder of OCSP nor a list at an http or https URL`;
    found.unknown = worse(found.unknown, invalid(reason));
    return;
  }
  const need: StatusNeed = {
    certificate: certificate.der.toString("base64"),
    issuer: issuer.der.toString("base64"),
    certificateId: certificate.fingerprint,
    issuerId: issuer.fingerprint,
    name,
    host: URL.parse(place.url)?.host.slice(0, 300) ?? "",
  };
  found.needs = [...found.needs, need];
  const status = statuses[statusKey(need)] ?? { state: "none", problem: "" };
  if (status.state === "revoked") {
    const { sinceMs = -Infinity } = status;
    if (sinceMs < (found.revoked?.sinceMs ?? Infinity)) found.revoked = { sinceMs, reason: revokedWords(name, status) };
  } else if (status.state === "good") {
    const { untilMs = 0, failedMs, problem } = status;
    if (failedMs !== undefined && found.said === "") found.said = `; asking again fails ${since(failedMs, problem)}`;
    if (untilMs >= found.untilMs) return;
    found.untilMs = untilMs;
    found.ended = endedWords(name, status, isAsking);
  } else found.unknown = worse(found.unknown, unknownWorth(name, status, isAsking));
}

function placeOf(certificate: Certificate): StatusPlace | undefined {
  try {
    return statusPlace(certificate);
  } catch {
    // What cannot be read names nobody.
    return undefined;
  }
}

/** What is known least of counts: what waits may be answered soon, the other is not. */
function worse(one: Worth | undefined, other: Worth): Worth {
  return one === undefined || one.state === SignatureState.WAITING ? other : one;
}

function unknownWorth(name: string, { state, failedMs, problem }: KnownStatus, isAsking: boolean): Worth {
  if (state === "unknown") return invalid(`${notKnown(name)}: its authority answers that it does not know it`);
  if (failedMs !== undefined)
    return invalid(`${notKnown(name)}: asking its authority fails ${since(failedMs, problem)}`);
  if (!isAsking) return invalid(`${notKnown(name)}: ${OFF}`);
  const reason = `it is not known yet whether the certificate of ${name} is revoked: its authority was not asked so far`;
  return { state: SignatureState.WAITING, code: SignatureCode.NOT_READ, reason };
}

function invalid(reason: string): Worth {
  return { state: SignatureState.INVALID, code: SignatureCode.BAD_CERTIFICATE, reason };
}

function notKnown(name: string): string {
  return `it is not known whether the certificate of ${name} is revoked`;
}

function revokedWords(name: string, { revokedMs }: KnownStatus): string {
  const when = revokedMs === undefined ? "" : ` since ${day(revokedMs)}`;
  return `its authority says that the certificate of ${name} is revoked${when}`;
}

function endedWords(name: string, { untilMs = 0, failedMs, problem }: KnownStatus, isAsking: boolean): string {
  const held = `the authority's answer on the certificate of ${name} counted until ${day(untilMs)}`;
  if (!isAsking) return `${held}; ${OFF}`;
  return failedMs === undefined ? held : `${held}; asking again fails ${since(failedMs, problem)}`;
}

function since(ms: number, problem: string): string {
  return `since ${day(ms)}: ${problem}`;
}

function day(ms: number): string {
  return new Date(ms).toISOString();
}
