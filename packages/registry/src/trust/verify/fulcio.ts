import { X509Certificate as NodeCertificate } from "node:crypto";
import { SignatureCode } from "@moorage/api/messages";
import { X509Certificate } from "@sigstore/core";
import { compilePattern } from "@moorage/kernel/lib/patterns";
import { FULCIO_EXTENSIONS } from "../signers/fulcio-extensions.ts";
import { SignatureError, type SpecIdentity } from "./types.ts";

const ISSUER = "1.3.6.1.4.1.57264.1.8";
const CODE_SIGNING = "1.3.6.1.5.5.7.3.3";
const MAX_DER = 64 << 10;
const UTF8_STRING = 0x0c;

/** What a certificate of Fulcio says of its holder. Not verified. */
export interface CertifiedIdentity {
  /** The URI or e-mail address; empty for other kinds of names. */
  subject: string;
  issuer: string;
  /** By the names of Fulcio. */
  extensions: ReadonlyMap<string, string>;
  /** Whether it is a certificate for signing code, and of nobody who issues some. */
  isForSigning: boolean;
  certificate: NodeCertificate;
}

/** Reads a certificate. Throws a SignatureError. Source: sigstore/fulcio, docs/oid-info.md; RFC 5280. */
export function certifiedIdentity(der: Buffer): CertifiedIdentity {
  if (der.length > MAX_DER)
    throw new SignatureError(SignatureCode.BAD_CERTIFICATE, `the certificate has more than ${MAX_DER} bytes`);
  try {
    const certificate = new NodeCertificate(der);
    const parsed = X509Certificate.parse(Buffer.from(der));
    const valueOf = (oid: string): string | undefined => {
      const value = parsed.extension(oid)?.valueObj.subs[0];
      // Extensions of Fulcio since .1.8 are a DER string; older ones, which are raw, do not count.
      return value?.tag.number === UTF8_STRING ? value.value.toString("utf8") : undefined;
    };
    const extensions = new Map<string, string>();
    for (const [name, oid] of Object.entries(FULCIO_EXTENSIONS)) {
      const value = valueOf(oid);
      if (value !== undefined) extensions.set(name, value);
    }
    return {
      subject: parsed.subjectAltName ?? "",
      issuer: valueOf(ISSUER) ?? "",
      extensions,
      // What Node calls keyUsage is the extended one.
      isForSigning: !certificate.ca && (certificate.keyUsage as string[] | undefined)?.includes(CODE_SIGNING) === true,
      certificate,
    };
  } catch (error) {
    const { message } = error as Error;
    throw new SignatureError(SignatureCode.BAD_CERTIFICATE, `the certificate cannot be read: ${message.slice(0, 200)}`);
  }
}

/** Whether the identity is the signer's, by what the certificate says. */
export function isIdentityOf(
  { subject, issuer, extensions }: CertifiedIdentity,
  { issuer: wantedIssuer, subject: wanted, subjectPattern, extensions: patterns }: SpecIdentity,
): boolean {
  if (issuer !== wantedIssuer || subject === "") return false;
  if (wanted !== "" ? subject !== wanted : !compilePattern(subjectPattern).matches(subject)) return false;
  return Object.entries(patterns).every(([name, pattern]) => {
    const value = extensions.get(name);
    return value !== undefined && compilePattern(pattern).matches(value);
  });
}
