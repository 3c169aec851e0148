import { createHash, createPublicKey, type KeyObject } from "node:crypto";

/** A public key by which signatures are verified. */
export interface PublicKey {
  key: KeyObject;
  /** The hash of its DER, as `sha256:<hex>`. */
  fingerprint: string;
}

/** Why a text is no key that signers may have; the message may be shown to whoever sent it. */
export class PublicKeyError extends Error {}

const PEM = /^-----BEGIN (?:RSA )?PUBLIC KEY-----\r?\n[A-Za-z0-9+/=\r\n]+-----END (?:RSA )?PUBLIC KEY-----\s*$/;
const CURVES: ReadonlySet<string | undefined> = new Set(["prime256v1", "secp384r1", "secp521r1"]);
const MIN_RSA_BITS = 2_048;
const MAX_RSA_BITS = 8_192;

/**
 * The key in PEM: ECDSA on P-256, P-384 or P-521, RSA of 2048 to 8192 bits, or Ed25519. Throws a PublicKeyError, also
 * for private keys and certificates. Source: RFC 5280, SubjectPublicKeyInfo; RFC 7468.
 */
export function publicKeyOf(pem: string): PublicKey {
  if (pem.includes("PRIVATE KEY")) throw new PublicKeyError("is a private key: only the public one belongs here");
  if (!PEM.test(pem))
    throw new PublicKeyError("must be one public key in PEM, from BEGIN PUBLIC KEY to END PUBLIC KEY");
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch (error) {
    throw new PublicKeyError("cannot be read as a public key", { cause: error });
  }
  requireSupported(key);
  const der = key.export({ type: "spki", format: "der" });
  return { key, fingerprint: `sha256:${createHash("sha256").update(der).digest("hex")}` };
}

function requireSupported({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): void {
  if (type === "ed25519") return;
  if (type === "ec") {
    if (CURVES.has(details?.namedCurve)) return;
    throw new PublicKeyError(`is on the curve ${String(details?.namedCurve)}: use P-256, P-384 or P-521`);
  }
  if (type !== "rsa") throw new PublicKeyError(`is of the type ${String(type)}: use ECDSA, RSA or Ed25519`);
  const bits = details?.modulusLength ?? 0;
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS)
    throw new PublicKeyError(`has ${bits} bits: RSA has ${MIN_RSA_BITS} to ${MAX_RSA_BITS}`);
}
