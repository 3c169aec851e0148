// A pull token: a JWT signed with its own key, whose public half its identity has.
import { createHash, generateKeyPairSync, sign } from "node:crypto";

/** The `iss` of pull tokens, which distinguishes their identities from others with static keys. */
export const PULL_TOKEN_ISSUER = "moorage-pull-token";

/**
 * The token, and what an identity needs to accept it. The private key is not stored: no other token can be signed with
 * it.
 */
export interface PullToken {
  issuer: string;
  subject: string;
  issuerKeys: string;
  audience: string;
  token: string;
}

/** Makes an ES256 key and a token that is valid until `endMs`, in milliseconds since 1970, for that audience only. */
export function makePullToken(audience: string, nowMs: number, endMs: number): PullToken {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { kty, crv, x, y } = publicKey.export({ format: "jwk" });
  // RFC 7638 requires the members in this order.
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  const claims = {
    iss: PULL_TOKEN_ISSUER,
    sub: kid,
    aud: audience,
    iat: Math.floor(nowMs / 1000),
    exp: Math.floor(endMs / 1000),
  };
  const input = [{ alg: "ES256", typ: "JWT", kid }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = sign("sha256", Buffer.from(input), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString(
    "base64url",
  );
  const issuerKeys = JSON.stringify({ keys: [{ kty, crv, x, y, kid, alg: "ES256", use: "sig" }] });
  return { issuer: PULL_TOKEN_ISSUER, subject: kid, issuerKeys, audience, token: `${input}.${signature}` };
}
