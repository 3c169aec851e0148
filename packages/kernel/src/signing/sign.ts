import { type KeyObject, randomUUID, sign } from "node:crypto";
import { SIGNING_ALGORITHM, type SigningKey } from "./keys.ts";

/** No token of ours lives longer, whatever is requested. */
export const MAX_TOKEN_TTL_MS = 3_600_000;

/** The header's `typ` of a token that allows all that the identity may do. */
export const ACCESS_TYP = "at+jwt";

/** What each token of ours says. */
export interface Signing {
  /** The header's `typ`. */
  typ: string;
  issuer: string;
  subject: string;
  audiences: readonly string[];
  ttlMs: number;
  nowMs: number;
  /** The latest time at which it may end, in milliseconds since 1970. */
  notAfterMs?: number | undefined;
  /** Further claims. */
  claims?: Readonly<Record<string, unknown>>;
}

/** A token that was signed, its `jti`, and its times in milliseconds since 1970. */
export interface SignedToken {
  token: string;
  tokenId: string;
  issuedAtMs: number;
  expiresAtMs: number;
}

/** Signs a token. It ends at the earliest of its ttl, one hour and `notAfterMs`, rounded down to the second. */
export function signToken(
  key: SigningKey,
  { typ, issuer, subject, audiences, claims, ...times }: Signing,
): SignedToken {
  const iat = Math.floor(times.nowMs / 1000);
  const expiresAtMs = endOfToken(times);
  const tokenId = randomUUID();
  const token = signed(
    key.privateKey,
    { alg: SIGNING_ALGORITHM, typ, kid: key.kid },
    {
      iss: issuer,
      sub: subject,
      aud: audiences.length === 1 ? audiences[0] : audiences,
      iat,
      nbf: iat,
      exp: expiresAtMs / 1000,
      jti: tokenId,
      ...claims,
    },
  );
  return { token, tokenId, issuedAtMs: iat * 1000, expiresAtMs };
}

/**
 * When a token ends, in milliseconds since 1970: at the earliest of its ttl, one hour and `notAfterMs`, rounded down to
 * the second.
 */
export function endOfToken({ nowMs, ttlMs, notAfterMs }: Pick<Signing, "nowMs" | "ttlMs" | "notAfterMs">): number {
  return Math.floor(Math.min(nowMs + Math.min(ttlMs, MAX_TOKEN_TTL_MS), notAfterMs ?? Infinity) / 1000) * 1000;
}

/**
 * A JWS in compact form, signed with ES256. Source: RFC 7515, RFC 7518 §3.4. Not signed by jose: through WebCrypto a
 * signature takes four times as long.
 */
function signed(key: KeyObject, header: object, claims: object): string {
  const input = `${Buffer.from(JSON.stringify(header)).toString("base64url")}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${input}.${sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}
