import { ASN1Obj } from "@sigstore/core";
import { type Certificate, CertificateError, MAX_DER, nameOf } from "./certificate.ts";
import { SIGNS_LISTS } from "./extensions.ts";
import { hashOf, isSignedWith } from "./signed-with.ts";
import { timeIn } from "./times.ts";

/** A list of revoked certificates of one issuer. Not verified. Times are since 1970, in milliseconds. */
export interface RevocationList {
  /** The issuer's name in DER. */
  issuer: Buffer;
  fromMs: number;
  untilMs: number;
  /** By serial number in hexadecimal: since when somebody else may have the key; -Infinity where it is not said. */
  revoked: ReadonlyMap<string, number>;
  isSignedBy(issuer: Certificate): boolean;
}

export const INVALIDITY_DATE = "2.5.29.24";
/** Extensions that are understood even where they are critical: invalidity date, reason, number, key of the issuer. */
const UNDERSTOOD: ReadonlySet<string> = new Set([INVALIDITY_DATE, "2.5.29.21", "2.5.29.20", "2.5.29.35"]);

/**
 * Reads a list of at most `maxBytes`. Throws a CertificateError, also for lists of a part, or of changes alone. Source:
 * RFC 5280, section 5.
 */
export function readRevocationList(der: Uint8Array, maxBytes = MAX_DER): RevocationList {
  if (der.length > maxBytes) throw new CertificateError(`the list has more than ${maxBytes} bytes`);
  try {
    return partsOf(ASN1Obj.parseBuffer(Buffer.from(der)));
  } catch (error) {
    throw new CertificateError(`the list cannot be read: ${(error as Error).message.slice(0, 200)}`);
  }
}

function partsOf({ subs: [body, algorithm, bits] }: ASN1Obj): RevocationList {
  if (!body || !algorithm || bits?.tag.isBitString() !== true) throw new Error("it is not a list");
  const parts = [...body.subs];
  if (parts[0]?.tag.isInteger() === true) parts.shift();
  const [, issuer, from, until, ...more] = parts;
  if (!issuer || !from || !until) throw new Error("it lacks its issuer, or until when it holds");
  const hash = hashOf(algorithm);
  if (hash === undefined) throw new Error("its algorithm is not known, or does not hold today");
  requireUnderstood(more.find(({ tag }) => tag.isContextSpecific(0))?.subs[0]);
  const entries = more.find(({ tag }) => tag.isUniversal())?.subs ?? [];
  const message = body.toDER();
  const signature = bits.value.subarray(1);
  return {
    issuer: issuer.toDER(),
    fromMs: timeIn(from),
    untilMs: timeIn(until),
    revoked: new Map(entries.map(revokedIn)),
    isSignedBy({ key, usage, subject }) {
      try {
        const isIssuer = usage?.bits.has(SIGNS_LISTS) === true && subject.equals(issuer.toDER());
        return isIssuer && isSignedWith(key, { algorithm, hash, message, signature });
      } catch {
        // Not in the form of a signature of such a key.
        return false;
      }
    },
  };
}

function revokedIn({ subs: [serial, , extensions] }: ASN1Obj): [serial: string, sinceMs: number] {
  if (serial === undefined) throw new Error("an entry has no serial number");
  requireUnderstood(extensions);
  const date = extensions?.subs.find(({ subs }) => subs[0]?.toOID() === INVALIDITY_DATE)?.subs.at(-1)?.subs[0];
  return [serial.value.toString("hex"), date === undefined ? -Infinity : timeIn(date)];
}

function requireUnderstood(extensions: ASN1Obj | undefined): void {
  for (const { subs } of extensions?.subs ?? []) {
    const oid = subs[0]?.toOID() ?? "";
    if (subs.length === 3 && subs[1]?.toBoolean() === true && !UNDERSTOOD.has(oid))
      throw new Error(`the critical extension ${oid} is not understood`);
  }
}

/** What lists say of a chain. */
export interface Revocation {
  /** Since when a certificate of it does not count, the earliest, and whose that is. */
  revoked?: { sinceMs: number; name: string };
  /** Of whom no list says anything. */
  unknown?: string;
  /** Until when the lists hold. */
  untilMs: number;
}

/** What the lists say of all certificates of the chain but its root, each by a list of the one that follows it. */
export function revocationOf(chain: readonly Certificate[], lists: readonly RevocationList[]): Revocation {
  let untilMs = Infinity;
  let unknown: string | undefined;
  let revoked: Revocation["revoked"];
  for (const [at, certificate] of chain.slice(0, -1).entries()) {
    const issuer = chain[at + 1];
    const own = lists.filter((list) => issuer !== undefined && list.isSignedBy(issuer));
    for (const list of own) {
      const sinceMs = list.revoked.get(certificate.serial.toString("hex"));
      if (sinceMs !== undefined && sinceMs < (revoked?.sinceMs ?? Infinity))
        revoked = { sinceMs, name: nameOf(certificate) };
    }
    if (own.length === 0) unknown ??= nameOf(certificate);
    else untilMs = Math.min(untilMs, Math.max(...own.map((list) => list.untilMs)));
  }
  return { untilMs, ...(revoked && { revoked }), ...(unknown !== undefined && { unknown }) };
}
