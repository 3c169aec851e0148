import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import type { JWK } from "jose";
import { isSealed, type Secrets } from "../lib/secrets.ts";

/** The algorithm of our signatures. Our own tokens are accepted with no other. */
export const SIGNING_ALGORITHM = "ES256";

/** More keys are never read. */
export const MAX_KEYS = 100;

/**
 * A key is published this long before it signs: other processes cache keys for half a minute, and verifiers cache a JWK
 * Set for a minute.
 */
export const PUBLISHED_AHEAD_MS = 120_000;

/** A signing key of this installation. */
export interface SigningKey {
  /** RFC 7638 thumbprint of the public key. */
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  publicJwk: JWK;
  createTimeMs: number;
  /** From when on it no longer signs, which may be in the future; null when nothing is planned. */
  retireTimeMs: number | null;
}

/** A row of `signing_keys`. */
export interface StoredKey {
  kid: string;
  private_jwk: string;
  public_jwk: string;
  create_time: number;
  retire_time: number | null;
}

/** The key of a row. Throws a SecretError when it was encrypted with another secret key. */
export function keyOf(row: StoredKey, secrets: Secrets): SigningKey {
  const publicJwk = JSON.parse(row.public_jwk) as JWK;
  const privateJwk = isSealed(row.private_jwk) ? secrets.open(row.private_jwk, sealContext(row.kid)) : row.private_jwk;
  return {
    kid: row.kid,
    publicJwk,
    createTimeMs: row.create_time,
    retireTimeMs: row.retire_time,
    privateKey: createPrivateKey({ key: JSON.parse(privateJwk) as JWK, format: "jwk" }),
    publicKey: createPublicKey({ key: publicJwk, format: "jwk" }),
  };
}

/** Where a private key is sealed, for `Secrets`. */
export function sealContext(kid: string): string {
  return `signing_keys:${kid}`;
}

/** The key to sign with, of keys newest first. Throws when there is none: every installation is created with one. */
export function signingKeyAt(keys: readonly SigningKey[], nowMs: number): SigningKey {
  const usable = keys.filter(({ retireTimeMs }) => retireTimeMs === null || nowMs < retireTimeMs);
  // The newest key that all processes and verifiers know by now; else the oldest, which most of them know.
  const key = usable.find(({ createTimeMs }) => createTimeMs <= nowMs - PUBLISHED_AHEAD_MS) ?? usable.at(-1);
  if (!key) throw new Error("there is no signing key");
  return key;
}
