import { hash, type KeyObject, verify } from "node:crypto";
import { type Capability, CapabilitySchema, other_name, v1_name } from "@moorage/api/messages";
import type { Caller } from "@moorage/kernel/core/call";
import { Code, invalidArgument, MoorageError, permissionDenied } from "@moorage/kernel/errors";
import { isObject } from "@moorage/kernel/lib/json";
import { createLru } from "@moorage/kernel/lib/lru";
import { optionOf } from "@moorage/kernel/lib/options";
import { isUid } from "@moorage/kernel/lib/uid";
import { SIGNING_ALGORITHM } from "@moorage/kernel/signing/keys";
import { ACCESS_TYP, type SignedToken, signToken } from "@moorage/kernel/signing/sign";
import { expiredRejection } from "../token-rejection.ts";
import { audiencesOf, isWithinTimes, parseJwt, rejection } from "./jwt.ts";
import type { Keyring } from "./keys.ts";

/**
 * The kinds of tokens, distinguished by the header's `typ` so that none can pass for another (RFC 8725 §3.11).
 * `access`: allows all that the identity may do. `registry`: only the repositories and actions in its `access` claim,
 * as the distribution token protocol defines. `account`: an ID token for another provider, whose subject is a group.
 * `webhook`: proves to the receiver of an event that this installation sent it. `replication`: proves to another
 * Moorage that this installation pushes what a group replicates there. The last three are not accepted by this server.
 */
type TokenType = "access" | "registry" | "account" | "webhook" | "replication";
const TYPS: Record<TokenType, string> = {
  access: ACCESS_TYP,
  registry: "moorage-registry+jwt",
  account: "JWT",
  webhook: "JWT",
  replication: "JWT",
};

const CAPABILITY_NAMES = new Map(
  CapabilitySchema.values
    .filter(({ name }) => name.startsWith("CAP_"))
    .map((value) => [value.number as Capability, value]),
);
const CAPABILITIES = new Map<string, Capability>(
  [...CAPABILITY_NAMES].flatMap(([number, value]) =>
    [value.name, optionOf(value, other_name), optionOf(value, v1_name)]
      .filter((name) => name !== "")
      .map((name): [string, Capability] => [name, number]),
  ),
);
const MAX_TOKEN_LENGTH = 8192;
const MAX_CACHED = 10_000;

interface RepositoryAccess {
  /** `registry` with the name `catalog`: the list of repositories. */
  type: "repository" | "registry";
  name: string;
  actions: string[];
  /** Of a repository, the only manifest that is pulled, with what it consists of. Undefined for all of its content. */
  digest?: string;
}

export interface MintRequest {
  type: TokenType;
  /**
   * The identity's uid; empty in a registry token for an anonymous caller. In an account, webhook or replication token,
   * the group's uid.
   */
  identity: string;
  audiences: string[];
  ttlMs: number;
  nowMs: number;
  /** The latest time at which it may end, in milliseconds since 1970. */
  notAfterMs?: number | undefined;
  /** Claims of the external token, for events and audit. */
  act?: Record<string, unknown>;
  /** The groups of a person at an identity provider; omitted from the token once their time is over. */
  external?: Caller["external"];
  capabilities?: Capability[];
  scopes?: string[];
  /** The uid of the browser session of the identity that the token comes from: it is good for as long as that is. */
  session?: string;
  /** The uid of the personal token that it is exchanged for: it is good for as long as that is. */
  personalToken?: string;
  /** The OAuth client that the token is issued to. */
  client?: string;
  /** Required for, and only in, a registry token. */
  access?: RepositoryAccess[];
  /** In a registry token without an identity: what a pull token of another installation may pull there. */
  center?: Caller["center"];
  /** In a registry token: names of repositories to which a push was asked for and not granted. */
  refused?: readonly string[];
  /** Required for, and only in, a webhook token: `sha256:` and the digest of the request's body in hex. */
  webhook?: { digest: string };
}

export type MintedToken = SignedToken;

/** Signs and verifies the tokens of this installation. */
export interface Tokens {
  /** Signs a token. It ends at the earliest of its ttl, one hour and `notAfterMs`, rounded down to the second. */
  mint(request: MintRequest): Promise<MintedToken>;
  /**
   * The caller of the token. Throws UNAUTHENTICATED for a token that is not ours or not valid now, and an error for
   * which `isWrongAudience` is true when it is for none of the audiences.
   */
  verify(token: string, audiences: string | readonly string[], nowMs: number): Promise<Caller>;
  /**
   * Whether the token that this very Caller object was verified from is still valid, by cached keys alone. When false,
   * the token has to be verified again.
   */
  isStillGood(caller: Caller, nowMs: number): boolean;
  /** As `verify`, for any audience: only for exchanging the token. */
  read(token: string, nowMs: number): Promise<Caller>;
}

/**
 * Whether the error says that a valid token was issued for another audience, which the registry answers with 403.
 * Source: docs/contract.md, "Registry tokens".
 */
export function isWrongAudience(error: unknown): boolean {
  return (
    error instanceof MoorageError &&
    error.code === Code.PermissionDenied &&
    error.details.metadata?.["reason"] === "AUDIENCE"
  );
}

/** Throws UNAUTHENTICATED unless the token of these claims, which we signed, is good now; of an old one it says so. */
function requireTimes(claims: Record<string, unknown>, nowMs: number): void {
  if (isWithinTimes(claims, nowMs)) return;
  const endMs = Number(claims["exp"]) * 1000;
  throw endMs <= nowMs ? expiredRejection("token", endMs) : rejection();
}

interface Verified {
  kid: string;
  claims: Record<string, unknown>;
  caller: Caller;
}

export function createTokens({ issuer, keyring }: { issuer: string; keyring: Keyring }): Tokens {
  const verified = createLru<string, Verified>(MAX_CACHED);
  // The digests of tokens signed by this process, and the key of each: most are used here next, and need no
  // verification, which takes three times as long as a signature.
  const signedHere = createLru<string, string>(MAX_CACHED);
  const byCaller = new WeakMap<Caller, Verified>();

  const read = async (token: string, nowMs: number): Promise<Caller> => {
    if (token.length > MAX_TOKEN_LENGTH) throw rejection();
    const digest = digestOf(token);
    const known = verified.get(digest);
    if (known) {
      // A verified signature stays good, so only the times and the key are checked again.
      if (!(await keyring.find(known.kid, nowMs))) throw rejection();
      requireTimes(known.claims, nowMs);
      return known.caller;
    }
    const jwt = parseJwt(token, MAX_TOKEN_LENGTH);
    const kid = jwt?.header["kid"];
    if (!jwt || typeof kid !== "string" || jwt.header["alg"] !== SIGNING_ALGORITHM) throw rejection();
    const key = await keyring.find(kid, nowMs);
    if (!key || jwt.claims["iss"] !== issuer) throw rejection();
    if (signedHere.get(digest) !== kid && !isSigned(token, key.publicKey)) throw rejection();
    requireTimes(jwt.claims, nowMs);
    const caller = callerOf(jwt.header["typ"], jwt.claims);
    const entry = { kid, claims: jwt.claims, caller };
    verified.set(digest, entry);
    byCaller.set(caller, entry);
    return caller;
  };

  return {
    read,
    isStillGood(caller, nowMs) {
      const known = byCaller.get(caller);
      // What was answered with the rights of groups may not be reused after these have ended.
      const groupsHold = caller.external === undefined || nowMs < caller.external.untilMs;
      return known !== undefined && groupsHold && isWithinTimes(known.claims, nowMs) && keyring.knows(known.kid, nowMs);
    },
    async verify(token, audiences, nowMs) {
      const caller = await read(token, nowMs);
      if (![audiences].flat().some((audience) => caller.audiences?.includes(audience)))
        throw permissionDenied("the token is meant for another audience", { reason: "AUDIENCE" });
      return caller;
    },
    async mint({
      type,
      identity,
      audiences,
      ttlMs,
      nowMs,
      notAfterMs,
      act,
      external,
      capabilities,
      scopes,
      session,
      personalToken,
      client,
      access,
      center,
      refused = [],
      webhook,
    }) {
      if ((type === "registry") !== (access !== undefined))
        throw new TypeError("a registry token, and no other, has an access claim");
      if ((type === "webhook") !== (webhook !== undefined))
        throw new TypeError("a webhook token, and no other, has a webhook claim");
      if (identity === "" && type !== "registry") throw new TypeError("only a registry token may be anonymous");
      const key = await keyring.signing(nowMs);
      const minted = signToken(key, {
        typ: TYPS[type],
        issuer,
        subject: type === "webhook" || type === "replication" ? `${type}:${identity}` : identity,
        audiences,
        ttlMs,
        nowMs,
        notAfterMs,
        claims: {
          ...(act && { act }),
          ...(external && external.untilMs > nowMs && groupClaims(external)),
          ...(capabilities && { cap: capabilities.map(capabilityText) }),
          ...(scopes && { scopes }),
          ...(session && { sid: session.slice(identity.length + 1) }),
          ...(personalToken !== undefined && { pat: personalToken.slice(identity.length + 1) }),
          // Source: RFC 9068 §2.2.
          ...(client !== undefined && { client_id: client }),
          ...(access && { access }),
          ...(center && { center: center.map(({ upstream, name }) => [upstream, name]) }),
          ...(refused.length > 0 && { refused }),
          ...(webhook && { webhook }),
        },
      });
      if (minted.token.length > MAX_TOKEN_LENGTH)
        throw invalidArgument({ field: "scopes", description: "are too many for a token" });
      if (type === "access" || type === "registry") signedHere.set(digestOf(minted.token), key.kid);
      return minted;
    },
  };
}

function digestOf(token: string): string {
  return hash("sha256", token, "base64url");
}

/** Whether the key signed the JWS in compact form with ES256. */
function isSigned(token: string, key: KeyObject): boolean {
  const cut = token.lastIndexOf(".");
  const signature = Buffer.from(token.slice(cut + 1), "base64url");
  return verify("sha256", Buffer.from(token.slice(0, cut)), { key, dsaEncoding: "ieee-p1363" }, signature);
}

/**
 * The caller of a verified token. Throws UNAUTHENTICATED when a claim that narrows is malformed, since ignoring it
 * would widen the token.
 */
function callerOf(typ: unknown, claims: Record<string, unknown>): Caller {
  const { sub, jti, exp, cap, scopes, sid, pat, access, center, refused, act, idp, client_id: client } = claims;
  const audiences = audiencesOf(claims);
  const registry = typ === TYPS.registry;
  if ((!registry && typ !== TYPS.access) || registry !== (access !== undefined)) throw rejection();
  if (
    typeof sub !== "string" ||
    !(isUid(sub) || (registry && sub === "")) ||
    typeof jti !== "string" ||
    audiences.length === 0
  )
    throw rejection();
  for (const below of [sid, pat])
    if (below !== undefined && (typeof below !== "string" || !isUid(`${sub}/${below}`))) throw rejection();
  if ((cap !== undefined && !isStrings(cap)) || (scopes !== undefined && !isStrings(scopes))) throw rejection();
  return {
    identity: sub,
    tokenId: jti,
    audiences,
    expiresAtMs: Number(exp) * 1000,
    ...(cap && { capabilities: cap.flatMap((name) => capabilityOf(name) ?? []) }),
    ...(idp !== undefined && { external: externalOf(claims) }),
    ...(scopes && { scopes }),
    ...(typeof sid === "string" && { session: `${sub}/${sid}` }),
    ...(typeof pat === "string" && { personalToken: `${sub}/${pat}` }),
    ...(typeof client === "string" && { client }),
    ...(isObject(act) && { act }),
    ...(registry && { repositories: repositoriesOf(access) }),
    ...(registry && listsRepositories(access) && { catalog: true }),
    ...(registry && sub === "" && center !== undefined && { center: centerOf(center) }),
    ...(registry && isStrings(refused) && { refused }),
  };
}

function groupClaims({ provider, groups, set, untilMs }: NonNullable<Caller["external"]>): Record<string, unknown> {
  return {
    idp: provider,
    groups,
    ...(set !== undefined && { groups_set: set }),
    groups_exp: Math.floor(untilMs / 1000),
  };
}

function externalOf({
  idp: provider,
  groups,
  groups_set: set,
  groups_exp: end,
}: Record<string, unknown>): NonNullable<Caller["external"]> {
  if (typeof provider !== "string" || !isUid(provider) || !isStrings(groups) || typeof end !== "number")
    throw rejection();
  return { provider, groups, ...(typeof set === "string" && { set }), untilMs: end * 1000 };
}

/**
 * The capability of that name (`CAP_REPO_LIST`) or dotted name (`repo.list`), also of the one that v1 has; undefined
 * when there is none.
 */
export function capabilityOf(name: string): Capability | undefined {
  return CAPABILITIES.get(name);
}

/** The name of a capability as tokens have it, such as `CAP_REPO_LIST`. */
export function capabilityText(capability: Capability): string {
  return CAPABILITY_NAMES.get(capability)?.name ?? String(capability);
}

function repositoriesOf(access: unknown): NonNullable<Caller["repositories"]> {
  if (!Array.isArray(access)) throw rejection();
  return access
    .filter((one) => !isCatalog(one))
    .map((one: unknown) => {
      if (
        !isObject(one) ||
        one["type"] !== "repository" ||
        typeof one["name"] !== "string" ||
        !isStrings(one["actions"])
      )
        throw rejection();
      const { name, actions, digest } = one;
      if (digest !== undefined && typeof digest !== "string") throw rejection();
      return { name, actions, ...(digest !== undefined && { digest }) };
    });
}

function centerOf(center: unknown): NonNullable<Caller["center"]> {
  if (!Array.isArray(center)) throw rejection();
  return center.map((pair: unknown) => {
    if (!isStrings(pair)) throw rejection();
    const [upstream = "", name = ""] = pair;
    return { upstream, name };
  });
}

function listsRepositories(access: unknown): boolean {
  return Array.isArray(access) && access.some(isCatalog);
}

function isCatalog(one: unknown): boolean {
  return isObject(one) && one["type"] === "registry" && one["name"] === "catalog";
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
