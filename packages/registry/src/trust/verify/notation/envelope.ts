import { SignatureCode } from "@moorage/api/messages";
import { SignatureError } from "../types.ts";
import type { Algorithm } from "../../x509/algorithms.ts";
import { type Certificate, MAX_DER } from "../../x509/certificate.ts";
import { MAX_CHAIN } from "../../x509/chain.ts";

/** What an envelope of Notation holds, in whichever form. Nothing of it is verified. Times are since 1970, in ms. */
export interface Envelope {
  payload: Uint8Array;
  /** The bytes that are signed, and their signature. */
  message: Uint8Array;
  signature: Uint8Array;
  headers: SignedHeaders;
  /** Whether it names this algorithm. */
  isBy(algorithm: Algorithm): boolean;
  /** DER, the certificate of the key that has signed first. */
  chain: readonly Uint8Array[];
  /** A time stamp of the signature (RFC 3161). */
  timestamp?: Uint8Array;
}

/** An envelope whose signature is by its own certificate, which is one for signing images. */
export interface SoundEnvelope extends Envelope {
  certificates: readonly [Certificate, ...Certificate[]];
}

/** What the signed headers say. */
export interface SignedHeaders {
  /** Whether a signing authority vouches for the time of signing. */
  isAuthority: boolean;
  /** When it was signed by the word of the authority. */
  signedMs?: number;
  /** Until when the signature counts by its own word. */
  expiryMs?: number;
}

export const MAX_SIGNATURE = 4 << 10;
export const TIMESTAMP = "io.cncf.notary.timestampSignature";

const PAYLOAD_TYPE = "application/vnd.cncf.notary.payload.v1+json";
const PREFIX = "io.cncf.notary.";
const SCHEME = `${PREFIX}signingScheme`;
const SIGNED = `${PREFIX}signingTime`;
const AUTHENTIC = `${PREFIX}authenticSigningTime`;
const EXPIRY = `${PREFIX}expiry`;
const X509 = "notary.x509";
const AUTHORITY = "notary.x509.signingAuthority";
const KNOWN_CRITICAL: ReadonlySet<unknown> = new Set([SCHEME, AUTHENTIC, EXPIRY]);

/** What is wrong with an envelope: it cannot be read, or says what is not understood. */
export function unreadable(message: string): SignatureError {
  return new SignatureError(SignatureCode.UNREADABLE, message);
}

/**
 * Reads the signed headers. `critical`: their names, or numbers, that must be understood; `timeOf`: reads a time, and
 * throws. Throws a SignatureError for what is not understood, for plugins, and where a name that must be critical is
 * not. Source: notaryproject/specifications, signing-scheme.md, signature-envelope-jws.md, signature-envelope-cose.md.
 */
export function signedHeaders(
  get: (name: string) => unknown,
  { names, contentType, critical }: { names: readonly unknown[]; contentType: unknown; critical: unknown },
  timeOf: (value: unknown) => number,
): SignedHeaders {
  if (contentType !== PAYLOAD_TYPE)
    throw new SignatureError(SignatureCode.OTHER_PAYLOAD, `what is signed does not have the type ${PAYLOAD_TYPE}`);
  const plugin = names.find((name) => typeof name === "string" && name.startsWith(`${PREFIX}verificationPlugin`));
  if (plugin !== undefined) throw unreadable("it is to be verified by a plugin, and no plugin is here");
  if (!Array.isArray(critical)) throw unreadable("it has no crit");
  const all: readonly unknown[] = critical;
  for (const name of all)
    if (!KNOWN_CRITICAL.has(name))
      throw unreadable(`it has a critical header that is not understood: ${wordFor(name)}`);
  if (new Set(all).size !== all.length) throw unreadable("a name stands twice in crit");
  for (const name of all) if (!names.includes(name)) throw unreadable(`crit names ${String(name)}, which is not there`);
  const scheme = get(SCHEME);
  if (scheme !== X509 && scheme !== AUTHORITY)
    throw unreadable(`its signing scheme is neither ${X509} nor ${AUTHORITY}`);
  const isAuthority = scheme === AUTHORITY;
  const time = (name: string, isCritical: boolean): number | undefined => {
    if (!names.includes(name)) return undefined;
    if (isCritical && !all.includes(name)) throw unreadable(`${name} is not critical`);
    try {
      return timeOf(get(name));
    } catch {
      throw unreadable(`${name} is not a time`);
    }
  };
  if (!all.includes(SCHEME)) throw unreadable(`${SCHEME} is not critical`);
  const [signedMs, otherMs] = isAuthority
    ? [time(AUTHENTIC, true), time(SIGNED, false)]
    : [time(SIGNED, false), time(AUTHENTIC, true)];
  if (signedMs === undefined) throw unreadable(`it lacks ${isAuthority ? AUTHENTIC : SIGNED}`);
  if (otherMs !== undefined) throw unreadable(`${isAuthority ? SIGNED : AUTHENTIC} does not belong to its scheme`);
  const expiryMs = time(EXPIRY, true);
  if (expiryMs !== undefined && expiryMs <= signedMs) throw unreadable("it ends before it was signed");
  return { isAuthority, ...(isAuthority && { signedMs }), ...(expiryMs !== undefined && { expiryMs }) };
}

/** The certificates of an envelope, bounded. Throws a SignatureError. */
export function boundedChain(chain: readonly Uint8Array[]): readonly Uint8Array[] {
  if (chain.length === 0) throw unreadable("it has no certificate");
  if (chain.length > MAX_CHAIN) throw unreadable(`it has more than ${MAX_CHAIN} certificates`);
  for (const { length } of chain)
    if (length > MAX_DER)
      throw new SignatureError(SignatureCode.BAD_CERTIFICATE, `a certificate has more than ${MAX_DER} bytes`);
  return chain;
}

function wordFor(name: unknown): string {
  return typeof name === "string" || typeof name === "number" ? String(name).slice(0, 100) : typeof name;
}
