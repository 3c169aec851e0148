import { createPublicKey, type KeyObject } from "node:crypto";
import type { JWK } from "jose";
import { isObject } from "./json.ts";

/** A public key that may verify signatures with any of `algorithms`. */
export interface VerificationKey {
  /** The identifier by which tokens name the key. Undefined when the JWK has none. */
  kid?: string;
  algorithms: readonly string[];
  key: KeyObject;
}

/** The algorithms accepted in tokens of other issuers: only asymmetric ones. Source: RFC 8725 §3.1. */
const CURVES: Record<string, string[]> = {
  "P-256": ["ES256"],
  "P-384": ["ES384"],
  "P-521": ["ES512"],
  Ed25519: ["EdDSA", "Ed25519"],
};
const RSA = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
const MAX_KEYS = 64;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 16_384;

/**
 * The keys of a JWK Set (RFC 7517) that can safely verify signatures. Private and symmetric keys, encryption keys,
 * unknown types and keys whose kid occurs twice are skipped.
 */
export function usableKeys(document: unknown): VerificationKey[] {
  const keys = members(document).flatMap((member) => {
    const key = readKey(member);
    return typeof key === "string" ? [] : [key];
  });
  return keys.filter(
    ({ kid }) =>
      kid === undefined || members(document).filter((member) => isObject(member) && member["kid"] === kid).length === 1,
  );
}

/** Why a document is not a JWK Set of public signature keys. Undefined when it is one. */
export function jwksFault(document: unknown): string | undefined {
  if (!isObject(document) || !Array.isArray(document["keys"]))
    return "must be a JWKS document: an object with an array `keys`";
  const found = document["keys"] as unknown[];
  if (found.length === 0) return "must hold at least one key";
  if (found.length > MAX_KEYS) return `must hold at most ${MAX_KEYS} keys`;
  for (const member of found) {
    const key = readKey(member);
    if (typeof key === "string") return key;
  }
  return usableKeys(document).length === found.length ? undefined : "must not give a kid twice";
}

function members(document: unknown): unknown[] {
  if (!isObject(document) || !Array.isArray(document["keys"])) return [];
  return (document["keys"] as unknown[]).slice(0, MAX_KEYS);
}

/** The key, or the reason why it cannot be used. */
function readKey(jwk: unknown): VerificationKey | string {
  if (!isObject(jwk)) return "must hold keys that are objects";
  if (PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name)))
    return "must hold public keys alone, no private or symmetric ones";
  const { kty, crv, kid, alg, use } = jwk;
  if (kid !== undefined && typeof kid !== "string") return "must hold keys whose kid is a string";
  if (use !== undefined && use !== "sig") return "must hold keys for signatures";
  const operations = jwk["key_ops"];
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify")))
    return "must hold keys for verifying signatures";
  const possible = algorithmsOf(kty, crv);
  if (possible === undefined) return "must hold keys of type RSA, EC (P-256, P-384, P-521) or OKP (Ed25519)";
  if (alg !== undefined && !possible.includes(String(alg))) return "must hold keys whose alg fits their type";
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk as JWK, format: "jwk" });
  } catch {
    return "must hold well-formed keys";
  }
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (kty === "RSA" && (bits === undefined || bits < MIN_RSA_BITS || bits > MAX_RSA_BITS))
    return `must hold RSA keys of at least ${MIN_RSA_BITS} bits`;
  return { ...(kid === undefined ? {} : { kid }), algorithms: alg === undefined ? possible : [String(alg)], key };
}

function algorithmsOf(kty: unknown, crv: unknown): string[] | undefined {
  if (kty === "RSA") return RSA;
  if (typeof crv !== "string" || !Object.hasOwn(CURVES, crv)) return undefined;
  return (kty === "EC") === crv.startsWith("P-") && (kty === "EC" || kty === "OKP") ? CURVES[crv] : undefined;
}
