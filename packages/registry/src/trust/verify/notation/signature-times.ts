import { SignatureTime } from "@moorage/api/messages";
import { readCertificate } from "../../x509/certificate.ts";
import { pemToDer } from "../../x509/pem.ts";
import type { RevocationList } from "../../x509/revocation-list.ts";
import { verifiedTime } from "../../x509/timestamp.ts";
import type { SignerSpec, SpecCertificates } from "../types.ts";
import type { SoundEnvelope } from "./envelope.ts";

/** By when something was signed, as somebody says whose word counts for the signer: from `ms` to `untilMs`. */
export interface KnownTime {
  ms: number;
  untilMs: number;
  source: SignatureTime;
}

const MAX_PROBLEM = 200;

/** When it was signed by whose word the signer lets count. `problem`: why a time stamp says nothing of it. */
export function knownTimes(
  { headers, timestamp, signature }: SoundEnvelope,
  { times }: SignerSpec,
  { tsaRoots, revoked }: SpecCertificates,
  { heldMs, lists }: { heldMs: number; lists: readonly RevocationList[] },
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
    const { fromMs, untilMs } = verifiedTime(timestamp, signature, { roots, revoked: new Set(revoked), lists });
    return { known: [{ ms: fromMs, untilMs, source }, ...known] };
  } catch (error) {
    return { known, problem: (error as Error).message.slice(0, MAX_PROBLEM) };
  }
}
