import { constants, type KeyObject, verify } from "node:crypto";

/** How a kind of key signs in the envelopes of Notation. */
export interface Algorithm {
  /** Its name in JOSE. */
  name: string;
  /** Its number in COSE. */
  cose: number;
  hash: "sha256" | "sha384" | "sha512";
}

const ES256: Algorithm = { name: "ES256", cose: -7, hash: "sha256" };
const ES384: Algorithm = { name: "ES384", cose: -35, hash: "sha384" };
const ES512: Algorithm = { name: "ES512", cose: -36, hash: "sha512" };
const PS256: Algorithm = { name: "PS256", cose: -37, hash: "sha256" };
const PS384: Algorithm = { name: "PS384", cose: -38, hash: "sha384" };
const PS512: Algorithm = { name: "PS512", cose: -39, hash: "sha512" };

const BY_CURVE: Readonly<Record<string, Algorithm>> = { prime256v1: ES256, secp384r1: ES384, secp521r1: ES512 };
const BY_BITS: Readonly<Record<number, Algorithm>> = { 2_048: PS256, 3_072: PS384, 4_096: PS512 };

/**
 * The one algorithm by which a key signs; undefined for keys that do not. Source: notaryproject/specifications,
 * signature-specification.md, "Algorithm Selection".
 */
export function algorithmOf({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): Algorithm | undefined {
  if (type === "ec") return BY_CURVE[details?.namedCurve ?? ""];
  return type === "rsa" ? BY_BITS[details?.modulusLength ?? 0] : undefined;
}

/** Whether the key has made the signature, in the form of JOSE and COSE. Source: RFC 7518, RFC 9053. */
export function isSignedBy(
  key: KeyObject,
  { hash }: Algorithm,
  { message, signature }: { message: Uint8Array; signature: Uint8Array },
): boolean {
  const by =
    key.asymmetricKeyType === "ec"
      ? { key, dsaEncoding: "ieee-p1363" as const }
      : { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  try {
    return verify(hash, message, by, signature);
  } catch {
    // Not in the form of a signature of such a key.
    return false;
  }
}
