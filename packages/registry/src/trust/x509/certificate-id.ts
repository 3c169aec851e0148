import { createHash } from "node:crypto";
import { ASN1Obj } from "@sigstore/core";
import type { Certificate } from "./certificate.ts";
import { SHA2 } from "./hashes.ts";
import { INTEGER, NULL, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, writeDer } from "./write-der.ts";

// Only names an issuer that is known already: who has answered is shown by a signature with another hash. It is the one
// that all responders know (RFC 5019, section 2.1.1).
const SHA1 = "1.3.14.3.2.26";
const SHA1_OID = Buffer.from([0x2b, 0x0e, 0x03, 0x02, 0x1a]);
const HASHES: ReadonlyMap<string, string> = new Map([[SHA1, "sha1"], ...SHA2]);
/** The place of the public key among the parts of a certificate of version 3. */
const KEY_PART = 6;

/** A certificate and who has issued it. */
export interface Issued {
  certificate: Certificate;
  issuer: Certificate;
}

/** The question whether the certificate is revoked, in DER. Source: RFC 6960, section 4.1. */
export function ocspRequest({ certificate, issuer }: Issued): Buffer {
  const algorithm = writeDer(SEQUENCE, writeDer(OBJECT_IDENTIFIER, SHA1_OID), writeDer(NULL));
  const id = writeDer(
    SEQUENCE,
    algorithm,
    writeDer(OCTET_STRING, hashOf("sha1", issuer.subject)),
    writeDer(OCTET_STRING, keyHash("sha1", issuer)),
    writeDer(INTEGER, certificate.serial),
  );
  const within = (content: Buffer): Buffer => writeDer(SEQUENCE, content);
  // The question has a part that could be signed, with a list of requests, of which each has an identifier.
  return within(within(within(within(id))));
}

/** Whether an answer is about this certificate of this issuer. Source: RFC 6960, section 4.1.1, CertID. */
export function isIdOf({ subs: [algorithm, name, key, serial] }: ASN1Obj, { certificate, issuer }: Issued): boolean {
  const hash = HASHES.get(algorithm?.subs[0]?.toOID() ?? "");
  if (hash === undefined || !name || !key || serial?.tag.isInteger() !== true) return false;
  return (
    name.value.equals(hashOf(hash, issuer.subject)) &&
    key.value.equals(keyHash(hash, issuer)) &&
    serial.value.equals(certificate.serial)
  );
}

/** The hash of the bits of a certificate's key, without what kind of key it is. */
export function keyHash(hash: string, { der }: Pick<Certificate, "der">): Buffer {
  const bits = ASN1Obj.parseBuffer(Buffer.from(der)).subs[0]?.subs[KEY_PART]?.subs[1];
  if (bits?.tag.isBitString() !== true) throw new Error("a certificate has no key");
  return hashOf(hash, bits.value.subarray(1));
}

function hashOf(hash: string, bytes: Uint8Array): Buffer {
  return createHash(hash).update(bytes).digest();
}
