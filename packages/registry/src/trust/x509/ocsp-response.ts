import { ASN1Obj } from "@sigstore/core";
import { type Certificate, isIssuedBy, MAX_DER, readCertificate } from "./certificate.ts";
import { type Issued, isIdOf, keyHash } from "./certificate-id.ts";
import { DIGITAL_SIGNATURE } from "./extensions.ts";
import { hashOf, isSignedWith } from "./signed-with.ts";
import { type CertificateStatus, singleStatus } from "./single-status.ts";
import { isNotToBeChecked, statusPlace } from "./status-place.ts";

const BASIC = "1.3.6.1.5.5.7.48.1.1";
const OCSP_SIGNING = "1.3.6.1.5.5.7.3.9";
const NONCE = "1.3.6.1.5.5.7.48.1.2";
const SUCCESSFUL = 0;
const REJECTIONS: Readonly<Record<number, string>> = {
  1: "it cannot read the question (malformedRequest)",
  2: "it has failed (internalError)",
  3: "it asks to try again later (tryLater)",
  5: "it answers signed questions alone (sigRequired)",
  6: "it does not answer for this authority (unauthorized)",
};
const MAX_CERTIFICATES = 10;
const MAX_ANSWERS = 1_000;

/**
 * What a responder of OCSP says of a certificate. Throws, with a message for people, unless the issuer of the
 * certificate, or who has a certificate of the issuer's for this, says it now of exactly this certificate. Source: RFC
 * 6960, sections 3.2 and 4.2.
 */
export function statusInAnswer(bytes: Uint8Array, about: Issued, nowMs: number): CertificateStatus {
  if (bytes.length > MAX_DER) throw new Error(`the answer has more than ${MAX_DER} bytes`);
  const { data, algorithm, signature, certificates } = basicResponse(bytes);
  const parts = [...data.subs];
  // Version 1, which may be left out.
  if (parts[0]?.tag.isContextSpecific(0) === true && parts.shift()?.subs[0]?.toInteger() !== 0n)
    throw new Error("the answer is not of version 1");
  const [responder, , responses, extensions] = parts;
  if (!responder || !responses) throw new Error("the answer lacks who has made it, or what it says");
  requireUnderstood(extensions);
  const hash = hashOf(algorithm);
  if (hash === undefined) throw new Error("the answer is signed by an algorithm that is not known, or does not hold");
  const { key } = signerOf({ responder, certificates }, about.issuer, nowMs);
  if (!isSignedWith(key, { algorithm, hash, message: data.toDER(), signature }))
    throw new Error("the answer is not signed by who it says to be");
  if (responses.subs.length > MAX_ANSWERS) throw new Error(`the answer is about more than ${MAX_ANSWERS} certificates`);
  const [own, ...more] = responses.subs.filter(({ subs: [id] }) => id !== undefined && isIdOf(id, about));
  if (own === undefined) throw new Error("the answer is about another certificate");
  if (more.length > 0) throw new Error("the answer says more than one thing of the certificate");
  return singleStatus(own, nowMs);
}

interface BasicResponse {
  data: ASN1Obj;
  algorithm: ASN1Obj;
  signature: Buffer;
  certificates: readonly ASN1Obj[];
}

function basicResponse(bytes: Uint8Array): BasicResponse {
  const [status, wrapped] = parsed(bytes).subs;
  const code = status?.value.length === 1 ? status.value[0] : undefined;
  if (code === undefined) throw new Error("the answer is not one of OCSP");
  if (code !== SUCCESSFUL) throw new Error(REJECTIONS[code] ?? `it rejects with the status ${code}`);
  const [type, content] = wrapped?.subs[0]?.subs ?? [];
  if (type?.toOID() !== BASIC || content?.tag.isOctetString() !== true)
    throw new Error("the answer is of a kind that is not known");
  const [data, algorithm, signature, certificates] = parsed(content.value).subs;
  if (!data || !algorithm || signature?.tag.isBitString() !== true) throw new Error("the answer is not signed");
  const list = certificates?.subs[0]?.subs ?? [];
  if (list.length > MAX_CERTIFICATES) throw new Error(`the answer has more than ${MAX_CERTIFICATES} certificates`);
  return { data, algorithm, signature: signature.value.subarray(1), certificates: list };
}

function parsed(bytes: Uint8Array): ASN1Obj {
  try {
    return ASN1Obj.parseBuffer(Buffer.from(bytes));
  } catch (error) {
    throw new Error("the answer cannot be read", { cause: error });
  }
}

/** The issuer, or the first certificate in the answer by which it lets somebody else answer. Throws for none. */
function signerOf(
  { responder, certificates }: { responder: ASN1Obj; certificates: readonly ASN1Obj[] },
  issuer: Certificate,
  nowMs: number,
): Certificate {
  if (isNamed(responder, issuer)) return issuer;
  let problem = "the answer is by somebody else than the authority, without a certificate of the authority's";
  for (const each of certificates) {
    const certificate = readable(each);
    if (certificate === undefined || !isNamed(responder, certificate)) continue;
    const fault = delegationFault(certificate, issuer, nowMs);
    if (fault === undefined) return certificate;
    problem = `the answer is by a certificate that ${fault}`;
  }
  throw new Error(problem);
}

function readable(element: ASN1Obj): Certificate | undefined {
  try {
    return readCertificate(element.toDER());
  } catch {
    // It is not the one that has signed.
    return undefined;
  }
}

/** Whether the responder says to be who has this certificate: by [1] its name, or [2] the hash of its key. */
function isNamed(responder: ASN1Obj, certificate: Certificate): boolean {
  const named = responder.subs[0];
  if (responder.tag.isContextSpecific(1)) return named?.toDER().equals(certificate.subject) === true;
  return responder.tag.isContextSpecific(2) && named?.value.equals(keyHash("sha1", certificate)) === true;
}

/** Why the certificate does not let its holder answer for the issuer; undefined when it does. */
function delegationFault(certificate: Certificate, issuer: Certificate, nowMs: number): string | undefined {
  if (!isIssuedBy(certificate, issuer)) return "the authority has not issued";
  if (certificate.extendedUsage?.purposes.includes(OCSP_SIGNING) !== true)
    return "is not one for answering (id-kp-OCSPSigning)";
  if (certificate.usage !== undefined && !certificate.usage.bits.has(DIGITAL_SIGNATURE))
    return "is not one for signatures";
  if (nowMs < certificate.notBeforeMs || nowMs >= certificate.notAfterMs) return "is not valid now";
  // Nobody is asked about who answers: where the authority wants that, the answer does not count.
  if (!isNotToBeChecked(certificate) && statusPlace(certificate) !== undefined)
    return "would have to be asked about itself (it lacks id-pkix-ocsp-nocheck)";
  return undefined;
}

function requireUnderstood(extensions: ASN1Obj | undefined): void {
  for (const { subs } of extensions?.subs[0]?.subs ?? []) {
    const oid = subs[0]?.toOID() ?? "";
    // No nonce was sent, so that none is missed: the times of the answer bound its age.
    if (subs.length === 3 && subs[1]?.toBoolean() === true && oid !== NONCE)
      throw new Error(`the critical extension ${oid} of the answer is not understood`);
  }
}
