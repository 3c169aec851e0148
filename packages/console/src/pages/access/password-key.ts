/** A password for machines, and what an identity needs to accept it. Source: docs/pull-tokens.md. */
export interface Password {
  issuer: string;
  subject: string;
  /** A JWKS document with the public key. */
  issuerKeys: string;
  audience: string;
  /** The password: a JWT. */
  token: string;
}

export interface PasswordClaims {
  issuer: string;
  audience: string;
  nowMs: number;
  /** When it ends, in milliseconds since 1970. */
  endMs: number;
  /** The uids that it is narrowed to. */
  scopes?: readonly string[];
}

const KEY = { name: "ECDSA", namedCurve: "P-256" };

/**
 * Makes a key and signs a token with it for that audience only, as `moorage pull-token` does. The private key is kept
 * nowhere. Throws an Error where the browser has no cryptography: on pages that came without TLS from another machine.
 */
export async function makePassword({ issuer, audience, nowMs, endMs, scopes }: PasswordClaims): Promise<Password> {
  const subtle = (globalThis.crypto as { subtle?: SubtleCrypto } | undefined)?.subtle;
  if (subtle === undefined)
    throw new Error("Without TLS, this browser cannot create keys: use https, or the command moorage pull-token.");
  const { privateKey, publicKey } = await subtle.generateKey(KEY, true, ["sign", "verify"]);
  const { kty, crv, x, y } = await subtle.exportKey("jwk", publicKey);
  // RFC 7638 requires the members in this order.
  const kid = base64url(await subtle.digest("SHA-256", bytesOf({ crv, kty, x, y })));
  const claims = {
    iss: issuer,
    sub: kid,
    aud: audience,
    iat: Math.floor(nowMs / 1000),
    exp: Math.floor(endMs / 1000),
    ...(scopes && { scopes }),
  };
  const input = [{ alg: "ES256", typ: "JWT", kid }, claims].map((part) => base64url(bytesOf(part))).join(".");
  const signature = await subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, new TextEncoder().encode(input));
  const issuerKeys = JSON.stringify({ keys: [{ kty, crv, x, y, kid, alg: "ES256", use: "sig" }] });
  return { issuer, subject: kid, issuerKeys, audience, token: `${input}.${base64url(signature)}` };
}

function bytesOf(value: object): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value));
}

function base64url(bytes: ArrayBuffer | Uint8Array<ArrayBuffer>): string {
  const text = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
