import { constants, type KeyObject, verify } from "node:crypto";

/** The hash that belongs to a curve. Source: FIPS 186-5; sigstore, algorithm-registry.md. */
const CURVE_HASHES: Readonly<Record<string, string>> = {
  prime256v1: "sha256",
  secp384r1: "sha384",
  secp521r1: "sha512",
};

/**
 * Whether the key has made the signature of the message. The key alone says the algorithm, whatever the signature
 * states: ECDSA with the curve's hash or SHA-256, RSA with SHA-256 by PKCS#1 or PSS, Ed25519.
 */
export function isSignedBy(key: KeyObject, message: Uint8Array, signature: Uint8Array): boolean {
  const by = (hash: string | null, options: object = {}): boolean => {
    try {
      return verify(hash, message, { key, ...options }, signature);
    } catch {
      // Not in the form of a signature of such a key.
      return false;
    }
  };
  if (key.asymmetricKeyType === "ed25519") return by(null);
  if (key.asymmetricKeyType === "ec") {
    const own = CURVE_HASHES[key.asymmetricKeyDetails?.namedCurve ?? ""];
    if (own === undefined) return false;
    return by(own, { dsaEncoding: "der" }) || (own !== "sha256" && by("sha256", { dsaEncoding: "der" }));
  }
  if (key.asymmetricKeyType !== "rsa") return false;
  return (
    by("sha256", { padding: constants.RSA_PKCS1_PADDING }) ||
    by("sha256", { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO })
  );
}
