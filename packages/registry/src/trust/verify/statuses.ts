/** A certificate whose authority is to be asked about it. Certificates are in DER, in base64. */
export interface StatusNeed {
  certificate: string;
  issuer: string;
  /** The fingerprints of both. */
  certificateId: string;
  issuerId: string;
  /** Its subject in a line. */
  name: string;
  /** Who is asked, as the certificate says. */
  host: string;
}

/** What is known of a certificate by the word of its authority. Times are since 1970, in milliseconds. */
export interface KnownStatus {
  /** Of the answer that is kept; none for no answer so far. */
  state: "none" | "good" | "revoked" | "unknown";
  untilMs?: number;
  revokedMs?: number;
  /** Since when somebody else may have the key. */
  sinceMs?: number;
  /** Since when asking fails, and why. */
  failedMs?: number;
  problem: string;
}

/** What authorities say of the certificates of a signature. */
export interface AskedStatuses {
  /** By `statusKey`. */
  statuses: Readonly<Record<string, KnownStatus>>;
  /** Whether authorities are asked: MOORAGE_REVOCATION. */
  isAsking: boolean;
}

/** What a certificate and its issuer are called together. */
export function statusKey({ certificateId, issuerId }: Pick<StatusNeed, "certificateId" | "issuerId">): string {
  return `${certificateId} ${issuerId}`;
}
