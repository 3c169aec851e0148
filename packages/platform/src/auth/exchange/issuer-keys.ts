import { hash } from "node:crypto";
import { FetchError, type GuardedFetch, whyNotFetched } from "@moorage/kernel/lib/guarded-fetch";
import { isIssuerUrl } from "@moorage/kernel/lib/issuer-url";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { MAX_KEYS, usableKeys, type VerificationKey } from "@moorage/kernel/lib/jwks";
import { createLru } from "@moorage/kernel/lib/lru";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { IssuerFault, IssuerKeys } from "@moorage/kernel/core/service";
import { type Jwt, rejection } from "../tokens/jwt.ts";

/**
 * Verifies tokens of other issuers by the keys that these publish. Call it only for issuers that some identity names,
 * since each call may fetch from the issuer.
 */
export interface ExternalVerifier {
  /**
   * Throws UNAUTHENTICATED for a token that its issuer did not sign, UNAVAILABLE when the issuer cannot be asked for
   * its keys. Of the claims it reads `iss` alone. `organization`: the one whose identity or provider names the issuer.
   */
  verify(jwt: Jwt, nowMs: number, organization: string): Promise<void>;
  /**
   * Whether the issuer signed the token, by the keys that are cached; asks nobody. Undefined when these do not decide.
   */
  isSigned(jwt: Jwt, nowMs: number): Promise<boolean | undefined>;
}

interface Issuer {
  keys: VerificationKey[];
  loadedAtMs: number;
  attemptedAtMs: number;
}
interface Failure {
  error: MoorageError;
  attemptedAtMs: number;
}

/** Why the keys of an issuer were not read, though it answers: whoever runs it can mend that. */
export class IssuerError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "IssuerError";
  }
}

const MAX_ISSUERS = 256;
const MAX_VERIFIED = 10_000;
// Issuers whose keys were never read that are asked concurrently: for all organizations, and for one. Those whose keys
// were read before are asked whatever the others do.
const MAX_NEW = 64;
const MAX_NEW_OF_ONE = 8;
const FRESH_MS = 600_000;
const RELOAD_COOLDOWN_MS = 30_000;
const FAILED_MS = 5_000;
const MAX_DEPTH = 16;
// Keys of one kid and algorithm that are tried for a token.
const MAX_OF_ONE_KID = 8;

/**
 * Source: OpenID Connect Discovery 1.0 §4. Keys are cached for ten minutes. A token that none of them signed has them
 * fetched again at most every 30 s, a failure is cached for 5 s, and concurrent callers for the same issuer share one
 * fetch. One organization has at most eight issuers asked concurrently whose keys were never read, and all together 64.
 */
export function createExternalVerifier(fetch: GuardedFetch): ExternalVerifier & IssuerKeys {
  const known = createLru<string, Issuer>(MAX_ISSUERS);
  const failed = createLru<string, Failure>(MAX_ISSUERS);
  const underWay = new Map<string, Promise<Issuer>>();
  /** The organizations for which new issuers are being asked. */
  const asking: string[] = [];

  const load = async (issuer: string, nowMs: number): Promise<Issuer> => {
    try {
      const fresh = { keys: await fetchKeys(fetch, issuer), loadedAtMs: nowMs, attemptedAtMs: nowMs };
      known.set(issuer, fresh);
      failed.delete(issuer);
      return fresh;
    } catch (error) {
      const issuerFailure = issuerError(error, issuer);
      failed.set(issuer, { error: issuerFailure, attemptedAtMs: nowMs });
      throw issuerFailure;
    }
  };
  const loadNew = async (issuer: string, nowMs: number, organization: string): Promise<Issuer> => {
    asking.push(organization);
    try {
      return await load(issuer, nowMs);
    } finally {
      asking.splice(asking.indexOf(organization), 1);
    }
  };
  const loadOnce = (issuer: string, nowMs: number, organization: string): Promise<Issuer> => {
    const running = underWay.get(issuer);
    if (running) return running;
    const failure = failed.get(issuer);
    if (failure && Math.abs(nowMs - failure.attemptedAtMs) < FAILED_MS) throw failure.error;
    const isNew = known.get(issuer) === undefined;
    if (isNew && (asking.length >= MAX_NEW || asking.filter((one) => one === organization).length >= MAX_NEW_OF_ONE))
      throw new MoorageError(Code.Unavailable, "Unavailable: too many issuers are being asked", {
        retryAfterMs: 1_000,
      });
    const loading = isNew ? loadNew(issuer, nowMs, organization) : load(issuer, nowMs);
    const started = loading.finally(() => underWay.delete(issuer));
    underWay.set(issuer, started);
    return started;
  };

  const freshKeys = async (issuer: string, nowMs: number, organization: string): Promise<Issuer> => {
    const cached = known.get(issuer);
    return isFresh(cached, nowMs) ? cached : await loadOnce(issuer, nowMs, organization);
  };

  return {
    async verify(jwt, nowMs, organization) {
      const issuer = jwt.claims["iss"];
      if (typeof issuer !== "string" || !isIssuerUrl(issuer)) throw rejection();
      const fresh = await freshKeys(issuer, nowMs, organization);
      if (await isSignedBy(jwt, fresh.keys)) return;
      if (Math.abs(nowMs - fresh.attemptedAtMs) < RELOAD_COOLDOWN_MS) throw rejection();
      // The issuer may have new keys, under a kid that it had before too. Set before the fetch, so that a failing one
      // counts as well.
      fresh.attemptedAtMs = nowMs;
      await verifySignature(jwt, (await loadOnce(issuer, nowMs, organization)).keys);
    },
    async isSigned(jwt, nowMs) {
      const cached = known.get(String(jwt.claims["iss"]));
      if (cached === undefined || fittingKeys(cached.keys, jwt.header).length === 0) return undefined;
      const isGood = await isSignedBy(jwt, cached.keys);
      // The issuer may have other keys by now.
      return isGood || isFresh(cached, nowMs) ? isGood : undefined;
    },
    async faultOf(issuer, nowMs, organization) {
      if (!isIssuerUrl(issuer)) return { reason: "REFUSED", message: "it is not the URL of an issuer" };
      try {
        const { keys } = await freshKeys(issuer, nowMs, organization);
        if (keys.length > 0) return undefined;
        return { reason: "NO_KEYS", message: "its key set holds no key that can verify tokens" };
      } catch (error) {
        return faultIn(error);
      }
    },
  };
}

function isFresh(issuer: Issuer | undefined, nowMs: number): issuer is Issuer {
  return issuer !== undefined && Math.abs(nowMs - issuer.loadedAtMs) < FRESH_MS;
}

/**
 * The keys that may have signed the token: of its algorithm, and named by its header's `kid`, which may name several.
 * Without a `kid`, the only key for the algorithm; none when there are several. The header's own `jwk`, `jku` and `x5u`
 * are ignored.
 */
function fittingKeys(keys: VerificationKey[], { alg, kid }: Record<string, unknown>): VerificationKey[] {
  const fitting = keys.filter((key) => key.algorithms.includes(String(alg)) && (kid === undefined || key.kid === kid));
  return kid === undefined && fitting.length > 1 ? [] : fitting.slice(0, MAX_OF_ONE_KID);
}

// By the digest of a token, the key that signed it: a signature that was verified stays good. Passwords for the
// registry come with every pull.
const verified = createLru<string, VerificationKey>(MAX_VERIFIED);

/** Throws UNAUTHENTICATED unless one of the keys that the token's header names signed it. */
export async function verifySignature(jwt: Jwt, keys: VerificationKey[]): Promise<void> {
  if (!(await isSignedBy(jwt, keys))) throw rejection();
}

async function isSignedBy(jwt: Jwt, keys: VerificationKey[]): Promise<boolean> {
  const fitting = fittingKeys(keys, jwt.header);
  if (fitting.length === 0) return false;
  const digest = hash("sha256", jwt.token, "base64url");
  const signer = verified.get(digest);
  if (signer !== undefined && fitting.includes(signer)) return true;
  // Not every installation takes tokens of other issuers.
  const { compactVerify } = await import("jose");
  for (const key of fitting) {
    const isGood = await compactVerify(jwt.token, key.key, { algorithms: [...key.algorithms] }).then(
      () => true,
      () => false,
    );
    if (!isGood) continue;
    verified.set(digest, key);
    return true;
  }
  return false;
}

async function fetchKeys(fetch: GuardedFetch, issuer: string): Promise<VerificationKey[]> {
  const discovery = await fetchObject(fetch, `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (discovery["issuer"] !== issuer) throw new FetchError("refused", "its discovery document names another issuer");
  const jwksUri = discovery["jwks_uri"];
  if (typeof jwksUri !== "string") throw new FetchError("refused", "its discovery document names no keys");
  const document = await fetchObject(fetch, jwksUri);
  const { keys } = document;
  if (Array.isArray(keys) && keys.length > MAX_KEYS)
    throw new FetchError("refused", `its key set holds ${keys.length} keys, more than ${MAX_KEYS}`);
  return usableKeys(document);
}

async function fetchObject(fetch: GuardedFetch, url: string): Promise<Record<string, unknown>> {
  const { status, body } = await fetch(url, { headers: { accept: "application/json" } });
  if (status >= 500 || status === 429) throw new FetchError("failed", "it answers with an error");
  if (status !== 200) throw new FetchError("refused", `it answers ${status}, not a document`);
  let document: unknown;
  try {
    document = parseJson(body.toString("utf8"), MAX_DEPTH);
  } catch (error) {
    throw new FetchError("refused", "it does not answer with JSON", error);
  }
  if (!isObject(document)) throw new FetchError("refused", "it does not answer with an object");
  return document;
}

/** Why an issuer's keys were not read. Throws what is no fault of the issuer. */
function faultIn(error: unknown): IssuerFault {
  const cause = error instanceof MoorageError ? error.cause : undefined;
  if (cause instanceof IssuerError) return { reason: "REFUSED", message: cause.message };
  if (cause instanceof FetchError) return { reason: "UNREACHABLE", message: whyNotFetched(cause) };
  throw error;
}

/** An unreachable issuer is UNAVAILABLE, since it may answer later; one that answers wrongly is not trusted. */
function issuerError(error: unknown, issuer: string): MoorageError {
  if (!(error instanceof FetchError)) throw error;
  if (error.kind === "refused") return Object.assign(rejection(), { cause: new IssuerError(error.message, error) });
  const host = URL.parse(issuer)?.host ?? "";
  return new MoorageError(
    Code.Unavailable,
    `Unavailable: the token issuer ${host} could not be asked for its keys: ${whyNotFetched(error)}`,
    { retryAfterMs: FAILED_MS, cause: error },
  );
}
