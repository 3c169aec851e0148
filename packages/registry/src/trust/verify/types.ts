import type { Claims } from "../claims/claims.ts";
import type { AskedStatuses, StatusNeed } from "./statuses.ts";
import type { SignatureCode, SignatureFormat, SignatureState, SignatureTime } from "@moorage/api/messages";

/** A key of a signer. Times are milliseconds since 1970. */
export interface SpecKey {
  pem: string;
  notBeforeMs?: number;
  notAfterMs?: number;
  revokeMs?: number;
}

/** An identity of which Fulcio has issued certificates: `subject`, or else `subjectPattern`, and what else they say. */
export interface SpecIdentity {
  issuer: string;
  subject: string;
  subjectPattern: string;
  extensions: Readonly<Record<string, string>>;
  /** By which trust root, as the signer names it. */
  trustRoot: string;
}

/** How many different logs and authorities have to speak for a signature; by default one of each that is named. */
export interface Thresholds {
  /** Transparency logs in which it stands. */
  logs?: number;
  /** Logs of certificates that promise to have its certificate. */
  scts?: number;
  /** Logs and time-stamping authorities that say when it was made. */
  timestamps?: number;
}

/** The trusted root of Sigstore as JSON by which identities are verified, or why there is none. */
export type TrustedRootText = { json: string; thresholds?: Thresholds } | { missing: string };

/** The trusted root of a name that signers use. */
export type TrustedRoots = (trustRoot: string) => TrustedRootText;

/** Who issues the certificates of a signer, and for whom. Certificates are in PEM. */
export interface SpecCertificates {
  roots: readonly string[];
  /** Whether signing authorities have issued them, which vouch for the time of signing. */
  isAuthority: boolean;
  tsaRoots: readonly string[];
  /** As they are written in the API, and were checked. */
  identities: readonly string[];
  /** The fingerprints of certificates that do not count. */
  revoked: readonly string[];
  /** Lists of revoked certificates in PEM. With any, each certificate must have one that does not name it. */
  crls: readonly string[];
  /** Whether authorities are asked if they have revoked a certificate: without their answer none counts. */
  isOnline: boolean;
}

/** Who signs, as signatures are verified: by keys, by an identity, or by certificates. */
export interface SignerSpec {
  uid: string;
  version: string;
  keys: readonly SpecKey[];
  keyless?: SpecIdentity;
  x509?: SpecCertificates;
  /** Whether only what stands in a transparency log counts. */
  requireLog: boolean;
  /** By whose word it is known when a signature was made. */
  times: readonly SignatureTime[];
}

/** A layer with its content, or why that is not there. */
export interface SignedLayer {
  n: number;
  mediaType: string;
  annotations: Readonly<Record<string, string>>;
  content: Uint8Array | string;
}

/** What a manifest with signatures is verified as. */
export interface Signed {
  /** The digest that the signatures are to be about. */
  subject: string;
  /** The bytes of the manifest of that digest; undefined where it is not held. */
  subjectContent: Uint8Array | undefined;
  /** The media type of that manifest. */
  subjectMediaType?: string | undefined;
  layers: readonly SignedLayer[];
  /** What authorities say of certificates; by default nobody is asked. */
  asked?: AskedStatuses;
  signers: readonly SignerSpec[];
  /** When the signatures were first held here. */
  heldMs: number;
  nowMs: number;
}

/** What a signature is worth from when until when; without an end for good. */
export interface Segment {
  fromMs: number;
  untilMs?: number;
  state: SignatureState;
  code: SignatureCode;
  reason: string;
}

/** A signer who has made the signature. */
export interface Match {
  signer: string;
  fingerprint: string;
  segments: readonly Segment[];
}

/** A signature, and who has made it. */
export interface VerifiedEntry {
  n: number;
  format: SignatureFormat;
  /** Of an attestation; empty for a signature of the image itself. */
  predicateType: string;
  identity: string;
  signedMs?: number;
  timeSource: SignatureTime;
  /** What is wrong whoever made it: 0 for nothing. */
  code: SignatureCode;
  reason: string;
  matches: readonly Match[];
  /** What it says that rules may ask for, where somebody whom a signer names has made it. */
  claims?: Claims;
  /** The certificates whose authorities are to be asked about them. */
  needs?: readonly StatusNeed[];
}

/** What is wrong with a signature whoever made it; the message is stored and shown. */
export class SignatureError extends Error {
  readonly code: SignatureCode;

  constructor(code: SignatureCode, message: string) {
    super(message);
    this.code = code;
  }
}
