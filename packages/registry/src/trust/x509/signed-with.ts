import { constants, type KeyObject, verify } from "node:crypto";
import type { ASN1Obj } from "@sigstore/core";
import { SHA2 } from "./hashes.ts";

const RSA = "1.2.840.113549.1.1.1";
const PSS = "1.2.840.113549.1.1.10";
/** Algorithms of signatures that name their hash. Source: RFC 5758, RFC 4055. */
const WITH_HASH: ReadonlyMap<string, string> = new Map(
  ["sha256", "sha384", "sha512"].flatMap((hash, at) => [
    [`1.2.840.10045.4.3.${at + 2}`, hash],
    [`1.2.840.113549.1.1.${at + 11}`, hash],
  ]),
);

/**
 * The hash of a signature by ECDSA or RSA with SHA-2; undefined for other algorithms. `given`: what is said beside the
 * algorithm, where that names none.
 */
export function hashOf({ subs: [name, parameters] }: ASN1Obj, given?: string): string | undefined {
  const oid = name?.toOID() ?? "";
  if (oid === RSA) return given;
  if (oid !== PSS) return WITH_HASH.get(oid);
  const stated = parameters?.subs.find(({ tag }) => tag.isContextSpecific(0))?.subs[0]?.subs[0]?.toOID();
  return SHA2.get(stated ?? "");
}

/** Whether the key has made the signature of the message by the algorithm, with this hash. */
export function isSignedWith(
  key: KeyObject,
  { algorithm, hash, message, signature }: { algorithm: ASN1Obj; hash: string; message: Buffer; signature: Buffer },
): boolean {
  const oid = algorithm.subs[0]?.toOID() ?? "";
  const isRsa = key.asymmetricKeyType === "rsa";
  if (isRsa !== oid.startsWith("1.2.840.113549.")) return false;
  const padding = oid === PSS ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  return verify(hash, message, isRsa ? { key, padding } : { key, dsaEncoding: "der" }, signature);
}
