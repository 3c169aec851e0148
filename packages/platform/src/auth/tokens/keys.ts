import { generateKeyPairSync, hash } from "node:crypto";
import type { JWK } from "jose";
import { isSealed, type Secrets } from "@moorage/kernel/lib/secrets";
import {
  keyOf,
  MAX_KEYS,
  PUBLISHED_AHEAD_MS,
  sealContext,
  SIGNING_ALGORITHM,
  type SigningKey,
  signingKeyAt,
} from "@moorage/kernel/signing/keys";
import type { Database } from "@moorage/kernel/store";

// A token outlives its key's retirement by at most an hour; the second hour allows for clocks and caches.
const RETIRED_GRACE_MS = 2 * 3_600_000;
/**
 * The signing keys that may still verify a token, newest first. Throws a SecretError when they were encrypted with
 * another secret key.
 */
export async function loadKeys(db: Database, secrets: Secrets): Promise<SigningKey[]> {
  const rows = await db
    .selectFrom("signing_keys")
    .selectAll()
    .where("algorithm", "=", SIGNING_ALGORITHM)
    .orderBy("create_time", "desc")
    .orderBy("kid")
    .limit(MAX_KEYS)
    .execute();
  return rows.map((row) => keyOf(row, secrets));
}

/**
 * Creates a key and stores it, its private half encrypted. It signs once it has been published for two minutes, or
 * immediately when there is no other key. Answers its kid.
 */
export async function createSigningKey(tx: Database, secrets: Secrets, nowMs: number): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { kty, crv, x, y } = publicKey.export({ format: "jwk" }) as Record<"kty" | "crv" | "x" | "y", string>;
  // RFC 7638: the required members in the order of their names. Not by jose, which is loaded at its first use.
  const kid = hash("sha256", JSON.stringify({ crv, kty, x, y }), "base64url");
  await tx
    .insertInto("signing_keys")
    .values({
      kid,
      algorithm: SIGNING_ALGORITHM,
      private_jwk: secrets.seal(JSON.stringify(privateKey.export({ format: "jwk" })), sealContext(kid)),
      public_jwk: JSON.stringify({ kty, crv, x, y, kid, alg: SIGNING_ALGORITHM, use: "sig" }),
      create_time: nowMs,
      retire_time: null,
    })
    .execute();
  return kid;
}

/**
 * Creates a new key, and retires the current ones from the time when it takes over. Those still verify until the last
 * token they signed has ended; then they are deleted. Answers the new kid.
 */
export async function rotateSigningKey(tx: Database, secrets: Secrets, nowMs: number): Promise<string> {
  await tx
    .updateTable("signing_keys")
    .set({ retire_time: nowMs + PUBLISHED_AHEAD_MS })
    .where("retire_time", "is", null)
    .execute();
  await tx
    .deleteFrom("signing_keys")
    .where("retire_time", "<=", nowMs - RETIRED_GRACE_MS)
    .execute();
  return createSigningKey(tx, secrets, nowMs);
}

/** Encrypts anew the keys that are encrypted with an older secret key, or not at all. */
export async function resealKeys(tx: Database, secrets: Secrets): Promise<void> {
  for (const { kid, private_jwk: stored } of await tx
    .selectFrom("signing_keys")
    .select(["kid", "private_jwk"])
    .execute()) {
    if (secrets.isCurrent(stored)) continue;
    const text = isSealed(stored) ? secrets.open(stored, sealContext(kid)) : stored;
    await tx
      .updateTable("signing_keys")
      .set({ private_jwk: secrets.seal(text, sealContext(kid)) })
      .where("kid", "=", kid)
      .execute();
  }
}

/** The signing keys, cached in this process. */
export interface Keyring {
  /** The key to sign with. Throws when there is none: every installation is created with one. */
  signing(nowMs: number): Promise<SigningKey>;
  /** The key of that kid, if it may verify; undefined when it is unknown or retired too long ago. */
  find(kid: string, nowMs: number): Promise<SigningKey | undefined>;
  /** Whether the key may verify, by the cached keys alone. When false, `find` has to be asked. */
  knows(kid: string, nowMs: number): boolean;
  /** The public keys that may verify, as a JWK Set. */
  jwks(nowMs: number): Promise<{ keys: JWK[] }>;
  /** Empties the cache: the next use loads the keys again. Call it after a rotation. */
  refresh(): void;
}

const REFRESH_MS = 30_000;
const UNKNOWN_COOLDOWN_MS = 1_000;

/** Caches the keys for 30 s. An unknown kid has them loaded again, at most once a second. */
export function createKeyring(load: () => Promise<SigningKey[]>): Keyring {
  let known: { keys: SigningKey[]; loadedAtMs: number } | undefined;
  let underWay: Promise<SigningKey[]> | undefined;
  const isFresh = (nowMs: number, maxAgeMs: number): boolean =>
    known !== undefined && Math.abs(nowMs - known.loadedAtMs) < maxAgeMs;
  const keysOf = async (nowMs: number, maxAgeMs: number): Promise<SigningKey[]> => {
    if (known && isFresh(nowMs, maxAgeMs)) return known.keys;
    underWay ??= load()
      .then((keys) => {
        known = { keys, loadedAtMs: nowMs };
        return keys;
      })
      .finally(() => {
        underWay = undefined;
      });
    return underWay;
  };
  const mayVerify = (key: SigningKey, nowMs: number): boolean =>
    key.retireTimeMs === null || nowMs < key.retireTimeMs + RETIRED_GRACE_MS;
  return {
    knows: (kid, nowMs) =>
      isFresh(nowMs, REFRESH_MS) && known?.keys.some((key) => key.kid === kid && mayVerify(key, nowMs)) === true,
    signing: async (nowMs) => signingKeyAt(await keysOf(nowMs, REFRESH_MS), nowMs),
    async find(kid, nowMs) {
      const named = (key: SigningKey): boolean => key.kid === kid && mayVerify(key, nowMs);
      return (await keysOf(nowMs, REFRESH_MS)).find(named) ?? (await keysOf(nowMs, UNKNOWN_COOLDOWN_MS)).find(named);
    },
    async jwks(nowMs) {
      const keys = await keysOf(nowMs, REFRESH_MS);
      return { keys: keys.filter((key) => mayVerify(key, nowMs)).map(({ publicJwk }) => publicJwk) };
    },
    refresh() {
      known = undefined;
    },
  };
}
