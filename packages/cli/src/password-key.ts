// A pull or push token: a JWT signed with its own key, whose public half its identity has.
import { createHash, generateKeyPairSync, sign } from "node:crypto";

/**
 * The token, and what an identity needs to accept it. The private key is not stored: no other token can be signed with
 * it.
 */
export interface Password {
  issuer: string;
  subject: string;
  issuerKeys: string;
  audience: string;
  token: string;
}

export interface PasswordClaims {
  issuer: string;
  audience: string;
  nowMs: number;
  /** When it ends, in milliseconds since 1970. */
  endMs: number;
  /** The uids of the groups or repos that it is narrowed to. */
  scopes?: string[];
}

/** Makes an ES256 key and a token for that audience only. */
export function makePassword({ issuer, audience, nowMs, endMs, scopes }: PasswordClaims): Password {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { kty, crv, x, y } = publicKey.export({ format: "jwk" });
  // RFC 7638 requires the members in this order.
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  const claims = {
    iss: issuer,
    sub: kid,
    aud: audience,
    iat: Math.floor(nowMs / 1000),
    exp: Math.floor(endMs / 1000),
    ...(scopes && { scopes }),
  };
  const input = [{ alg: "ES256", typ: "JWT", kid }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = sign("sha256", Buffer.from(input), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString(
    "base64url",
  );
  const issuerKeys = JSON.stringify({ keys: [{ kty, crv, x, y, kid, alg: "ES256", use: "sig" }] });
  return { issuer, subject: kid, issuerKeys, audience, token: `${input}.${signature}` };
}
