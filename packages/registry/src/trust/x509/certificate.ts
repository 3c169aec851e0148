import { createHash, type KeyObject, X509Certificate } from "node:crypto";
import { ASN1Obj } from "@sigstore/core";
import { ATTRIBUTES, type NameAttribute } from "./distinguished-name.ts";
import { extensionsIn, type KnownExtensions } from "./extensions.ts";
import { hashOf } from "./signed-with.ts";

/** A certificate, as far as it is looked at. Nothing of it is verified. Times are since 1970, in milliseconds. */
export interface Certificate extends KnownExtensions {
  der: Buffer;
  /** The hash of the DER, as `sha256:<hex>`. */
  fingerprint: string;
  key: KeyObject;
  /** In DER. */
  subject: Buffer;
  issuer: Buffer;
  serial: Buffer;
  attributes: readonly NameAttribute[];
  notBeforeMs: number;
  notAfterMs: number;
  /** Whether the key has made its signature, by an algorithm that holds today. */
  isSignedBy(key: KeyObject): boolean;
}

/** The largest certificate that is read, in bytes. */
export const MAX_DER = 64 << 10;
const CURVES: ReadonlySet<string | undefined> = new Set(["prime256v1", "secp384r1", "secp521r1"]);
const MIN_RSA_BITS = 2_048;
const MAX_RSA_BITS = 8_192;
const MAX_NAME = 500;
/** What is wrong with certificates; the message may be shown to whoever sent them. */
export class CertificateError extends Error {}

/** Reads a certificate. Throws a CertificateError. Source: RFC 5280. */
export function readCertificate(bytes: Uint8Array): Certificate {
  if (bytes.length > MAX_DER) throw new CertificateError(`a certificate has more than ${MAX_DER} bytes`);
  const der = Buffer.from(new Uint8Array(bytes));
  let found: Certificate;
  try {
    found = partsOf(der);
  } catch (error) {
    throw new CertificateError(`a certificate cannot be read: ${(error as Error).message.slice(0, 200)}`);
  }
  requireStrong(found);
  return found;
}

function partsOf(der: Buffer<ArrayBuffer>): Certificate {
  const node = new X509Certificate(der);
  const [tbs, algorithm] = ASN1Obj.parseBuffer(der).subs;
  if (tbs === undefined || algorithm === undefined || !node.raw.equals(der)) throw new Error("it is not DER");
  // Version 3 stands in front; older ones have no extensions, and so do not say what they are for.
  const [version, serial, , issuer, , subject, , ...more] = tbs.subs;
  if (version?.tag.isContextSpecific(0) !== true || !serial || !issuer || !subject)
    throw new Error("it is not of version 3");
  const isSound = hashOf(algorithm) !== undefined;
  return {
    der,
    fingerprint: `sha256:${createHash("sha256").update(der).digest("hex")}`,
    key: node.publicKey,
    subject: subject.toDER(),
    issuer: issuer.toDER(),
    serial: serial.value,
    attributes: attributesOf(subject),
    notBeforeMs: node.validFromDate.getTime(),
    notAfterMs: node.validToDate.getTime(),
    ...extensionsIn(more.find(({ tag }) => tag.isContextSpecific(3))),
    isSignedBy(key) {
      try {
        return isSound && node.verify(key);
      } catch {
        // A key of another kind than that of the signature.
        return false;
      }
    },
  };
}

/** Whether the subject stands in its own certificate, which it has signed itself. */
export function isSelfSigned(certificate: Certificate): boolean {
  return isIssuedBy(certificate, certificate);
}

/** Whether the one was issued by the other, by its name and its key. */
export function isIssuedBy(one: Certificate, other: Certificate): boolean {
  return one.issuer.equals(other.subject) && one.isSignedBy(other.key);
}

/** The subject in a line, as `CN=release,O=acme`. */
export function nameOf({ attributes }: Pick<Certificate, "attributes">): string {
  const all = attributes.map(([type, value]) => `${type}=${value.replaceAll(/[\\,+="<>;]/g, "\\$&")}`).toReversed();
  return all.join(",").slice(0, MAX_NAME).toWellFormed().replaceAll("\0", "\ufffd");
}

function requireStrong({ key, attributes }: Certificate): void {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const bits = details?.modulusLength ?? 0;
  const isStrong =
    type === "ec" ? CURVES.has(details?.namedCurve) : type === "rsa" && bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS;
  if (isStrong) return;
  throw new CertificateError(
    `the key of ${nameOf({ attributes })} must be RSA of ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits, or on P-256, P-384 or P-521`,
  );
}

function attributesOf(name: ASN1Obj): NameAttribute[] {
  return name.subs.flatMap(({ subs }) =>
    subs.map(({ subs: [type, value] }): NameAttribute => {
      if (!type || !value) throw new Error("its name has a part without a value");
      const oid = type.toOID();
      return [ATTRIBUTES[oid] ?? oid, textOf(value)];
    }),
  );
}

const BMP_STRING = 0x1e;
const T61_STRING = 0x14;

function textOf({ tag, value }: ASN1Obj): string {
  if (tag.number === BMP_STRING)
    return Buffer.from(value.subarray(0, value.length & ~1))
      .swap16()
      .toString("utf16le");
  return value.toString(tag.number === T61_STRING ? "latin1" : "utf8");
}
