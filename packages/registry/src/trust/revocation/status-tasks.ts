// What the processes do that ask authorities: they read what somebody else made, and may have to be killed.
import { FetchError, guardedFetch, whyNotFetched } from "@moorage/kernel/lib/guarded-fetch";
import { serveTasks } from "@moorage/kernel/lib/process-pool/child";
import { isIssuedBy, MAX_DER, readCertificate } from "../x509/certificate.ts";
import { type Issued, ocspRequest } from "../x509/certificate-id.ts";
import { statusInAnswer } from "../x509/ocsp-response.ts";
import { readRevocationList } from "../x509/revocation-list.ts";
import { boundsOf, type CertificateStatus } from "../x509/single-status.ts";
import { statusPlace } from "../x509/status-place.ts";

export interface StatusInput {
  /** In DER, in base64. */
  certificate: string;
  issuer: string;
  rules: { allowPrivateNetwork: boolean; dnsServers: readonly string[] };
  nowMs: number;
}

/** What the authority says, or why that is not known. */
export type StatusOutput = { status: CertificateStatus } | { problem: string; isUnreachable: boolean };

const REQUEST_MS = 10_000;
/** The largest list that is fetched, in bytes: some 25,000 certificates. */
const MAX_LIST = 1 << 20;

/** Asks whom the certificate names. No answer counts that its issuer has not signed, or had signed. */
async function ask({ certificate, issuer, rules, nowMs }: StatusInput): Promise<StatusOutput> {
  const about: Issued = { certificate: certificateIn(certificate), issuer: certificateIn(issuer) };
  try {
    if (!isIssuedBy(about.certificate, about.issuer)) throw new Error("it was not issued by the authority");
    const place = statusPlace(about.certificate);
    if (place === undefined) throw new Error("it names nobody who could be asked");
    const status =
      place.kind === "ocsp"
        ? await askResponder(place.url, about, { rules, nowMs })
        : await readList(place.url, about, { rules, nowMs });
    return { status };
  } catch (error) {
    if (error instanceof FetchError) return { problem: whyNotFetched(error), isUnreachable: error.kind === "failed" };
    return { problem: (error as Error).message, isUnreachable: false };
  }
}

type How = Pick<StatusInput, "rules" | "nowMs">;

function certificateIn(base64: string): Issued["certificate"] {
  return readCertificate(Buffer.from(base64, "base64"));
}

// Answers are signed, and authorities have plain http at most: whoever asks by TLS may have to ask about that first.
async function askResponder(url: string, about: Issued, { rules, nowMs }: How): Promise<CertificateStatus> {
  const fetch = guardedFetch({ ...rules, allowsPlainHttp: true, timeoutMs: REQUEST_MS, maxBytes: MAX_DER });
  const { status, body } = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/ocsp-request", accept: "application/ocsp-response" },
    body: ocspRequest(about),
  });
  if (status !== 200) throw new Error(`it answers with the status ${status} of HTTP`);
  return statusInAnswer(body, about, nowMs);
}

async function readList(
  url: string,
  { certificate, issuer }: Issued,
  { rules, nowMs }: How,
): Promise<CertificateStatus> {
  const fetch = guardedFetch({ ...rules, allowsPlainHttp: true, timeoutMs: REQUEST_MS, maxBytes: MAX_LIST });
  const { status, body } = await fetch(url);
  if (status !== 200) throw new Error(`it answers with the status ${status} of HTTP`);
  const list = readRevocationList(body, MAX_LIST);
  if (!list.isSignedBy(issuer)) throw new Error("the list is not signed by the authority");
  const bounds = boundsOf(list.fromMs, list.untilMs, nowMs);
  const sinceMs = list.revoked.get(certificate.serial.toString("hex"));
  if (sinceMs === undefined) return { state: "good", ...bounds };
  return { state: "revoked", ...bounds, ...(Number.isFinite(sinceMs) && { sinceMs }) };
}

serveTasks({ ask });
