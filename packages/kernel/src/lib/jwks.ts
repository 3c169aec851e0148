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
// `jwt-svid`: in the sets of SPIFFE, beside keys for X.509. Source: SPIFFE Trust Domain and Bundle §4.2.2.
const SIGNATURE_USES: readonly unknown[] = ["sig", "jwt-svid"];
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
/** How many keys a JWK Set may hold, those that are ignored included. */
export const MAX_KEYS = 256;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 16_384;

/**
 * The keys of a JWK Set that can safely verify signatures, of at most MAX_KEYS. Private and symmetric keys, encryption
 * keys and unknown types are skipped. A kid may name several keys, as of different types. Source: RFC 7517 §4.5, §5.
 */
export function usableKeys(document: unknown): VerificationKey[] {
  if (!isObject(document) || !Array.isArray(document["keys"])) return [];
  return (document["keys"] as unknown[]).slice(0, MAX_KEYS).flatMap((member) => {
    const { key } = readKey(member);
    return key === undefined ? [] : [key];
  });
}

/**
 * Why a document is not a JWK Set with which signatures can be verified. Undefined when it is one. Keys that are not
 * for signatures, or of types that are not known, are no fault beside a usable one; a private or symmetric key is,
 * since its owner should hear of it.
 */
export function jwksFault(document: unknown): string | undefined {
  if (!isObject(document) || !Array.isArray(document["keys"]))
    return "must be a JWKS document: an object with an array `keys`";
  const found = document["keys"] as unknown[];
  if (found.length === 0) return "must hold at least one key";
  if (found.length > MAX_KEYS) return `must hold at most ${MAX_KEYS} keys`;
  const read = found.map(readKey);
  const bad = read.find(({ isBad }) => isBad === true);
  if (bad !== undefined) return bad.reason;
  return read.some(({ key }) => key !== undefined) ? undefined : read[0]?.reason;
}

/** The key, or the reason why it cannot be used. `isBad`: its set should not be stored at all. */
type Read = { key: VerificationKey; reason?: undefined; isBad?: undefined } | NotUsable;
interface NotUsable {
  key?: undefined;
  reason: string;
  isBad?: boolean;
}

function readKey(jwk: unknown): Read {
  const ignored = (reason: string): NotUsable => ({ reason });
  const bad = (reason: string): NotUsable => ({ reason, isBad: true });
  if (!isObject(jwk)) return bad("must hold keys that are objects");
  if (PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name)))
    return bad("must hold public keys alone, no private or symmetric ones");
  const { kty, crv, kid, alg, use } = jwk;
  if (kid !== undefined && typeof kid !== "string") return bad("must hold keys whose kid is a string");
  if (use !== undefined && !SIGNATURE_USES.includes(use)) return ignored("must hold a key for signatures");
  const operations = jwk["key_ops"];
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify")))
    return ignored("must hold a key for verifying signatures");
  const possible = algorithmsOf(kty, crv);
  if (possible === undefined) return ignored("must hold a key of type RSA, EC (P-256, P-384, P-521) or OKP (Ed25519)");
  if (alg !== undefined && !possible.includes(String(alg))) return ignored("must hold a key whose alg fits its type");
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk as JWK, format: "jwk" });
  } catch {
    return bad("must hold well-formed keys");
  }
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (kty === "RSA" && (bits === undefined || bits < MIN_RSA_BITS || bits > MAX_RSA_BITS))
    return bad(`must hold RSA keys of at least ${MIN_RSA_BITS} bits`);
  const algorithms = alg === undefined ? possible : [String(alg)];
  return { key: { ...(kid === undefined ? {} : { kid }), algorithms, key } };
}

function algorithmsOf(kty: unknown, crv: unknown): string[] | undefined {
  if (kty === "RSA") return RSA;
  if (typeof crv !== "string" || !Object.hasOwn(CURVES, crv)) return undefined;
  return (kty === "EC") === crv.startsWith("P-") && (kty === "EC" || kty === "OKP") ? CURVES[crv] : undefined;
}
