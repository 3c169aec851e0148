import { randomUUID } from "node:crypto";
import type { Auditor } from "@moorage/kernel/audit";
import type { Config } from "@moorage/kernel/config";
import type { Caller, CallData } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import { endOfToken } from "@moorage/kernel/signing/sign";
import { auditRejections, exchangeEntry } from "../audit.ts";
import { type Jwt, parseJwt, rejection } from "../tokens/jwt.ts";
import { assumeIdentity, type AssumeDeps, type Requested } from "./assume.ts";
import { hasSession } from "../tokens/authenticate.ts";
import { findIdentity, type IdentityRow } from "./identity-rows.ts";
import { type Audiences, narrow, type Narrowing, type NarrowingRequest, parseNarrowing } from "./narrowing.ts";
import type { PersonalTokens } from "../tokens/personal-callers.ts";
import { isPersonalToken } from "../tokens/personal-secret.ts";
import { createPatternBudgets } from "./pattern-budget.ts";
import { heldByPassword } from "./registry-password.ts";
import { narrowAudiences, type RefreshTokens } from "../tokens/refresh.ts";
import { mcpResource } from "../tokens/mcp-resource.ts";
import type { MintedToken, Tokens } from "../tokens/tokens.ts";
import { createLateNotes, isStorageFull, type LateNotes } from "./late-notes.ts";

export interface ExchangeRequest extends NarrowingRequest {
  /** The external token, a token of this issuer or a personal token; for `refresh`, the refresh token. */
  bearer: string;
  /**
   * The identity to assume. Defaults to the one with the token's issuer and subject, in the organizations of `scopes`
   * when there are several.
   */
  identity?: string;
  /** Names of the organizations whose images the token is for: of several identities, theirs are preferred. */
  organizations?: string[];
  /** Instead of an identity: the identity provider that the token was issued for; the token's person is signed in. */
  identityProvider?: string;
  /** For `refresh`: the client that asks, where it says so. */
  client?: string;
}

/** A log-in to the registry: the password, and of the identity what an ExchangeRequest says of it. */
type RegistryLogIn = Pick<ExchangeRequest, "bearer" | "identity" | "organizations">;

/**
 * The issued tokens. The refresh token is empty when a token of this issuer was exchanged, whose life must not become
 * longer, and while the storage has no space for one.
 */
export interface ExchangeAnswer {
  token: string;
  refreshToken: string;
  issuedAtMs: number;
  expiresAtMs: number;
  refreshExpiresAtMs: number;
  /** What the access token is narrowed to. */
  granted: Pick<Caller, "capabilities" | "scopes">;
}

export interface Exchanger {
  /**
   * Throws UNAUTHENTICATED when the token is not accepted, with as much of the reason as `rejections.ts` allows;
   * INVALID_ARGUMENT for a malformed request; PERMISSION_DENIED when more is requested than a token of this issuer
   * holds; UNAVAILABLE when an issuer cannot be asked for its keys; RESOURCE_EXHAUSTED when patterns cost too much.
   */
  exchange(request: ExchangeRequest, data: CallData): Promise<ExchangeAnswer>;
  /**
   * Exchanges a refresh token for an access token and a refresh token that replaces it. The new access token may be
   * narrower than the first one, never wider. Throws as `exchange` does.
   */
  refresh(request: ExchangeRequest, data: CallData): Promise<ExchangeAnswer>;
  /**
   * The caller of the token for the registry that `exchange` would issue, without issuing any: nobody would get it, nor
   * its refresh token. Every docker pull begins with one. The token of another issuer is audited, as log-ins are; a
   * token of this issuer is not: there are as many of these as pulls, and the audit log has neither. Throws as
   * `exchange` does.
   */
  registryCaller(request: RegistryLogIn, data: CallData): Promise<Caller>;
  /** Writes what was noted and not written yet. Call it when no request is under way any more. */
  close(): Promise<void>;
}

export interface ExchangeDeps extends Omit<AssumeDeps, "patterns"> {
  config: Pick<Config, "baseUrl" | "registryAudience" | "accessTokenTtlMs">;
  tokens: Tokens;
  refreshTokens: RefreshTokens;
  personalTokens: Pick<PersonalTokens, "find" | "require" | "isThere">;
  /** Receives the rejected requests. */
  auditor: Pick<Auditor, "note">;
}

/** What the steps of an exchange work with. */
interface Context extends ExchangeDeps, Pick<AssumeDeps, "patterns"> {
  notes: LateNotes;
  audiences: Audiences;
}

/** In characters; longer tokens of other issuers are rejected. */
const MAX_EXTERNAL_LENGTH = 16_384;
const SEEN_EVERY_MS = 60_000;

/** Token exchange. Source: docs/contract.md, "Authentication"; RFC 8693 for the idea. */
export function createExchanger(deps: ExchangeDeps): Exchanger {
  const { config, tokens, personalTokens, auditor } = deps;
  const context = {
    ...deps,
    patterns: createPatternBudgets(),
    notes: createLateNotes(deps.writer, deps.log),
    audiences: {
      platform: config.baseUrl,
      registry: config.registryAudience,
      mcp: mcpResource(config.baseUrl),
    },
  };
  const ownCaller = async (bearer: string, nowMs: number): Promise<Caller | undefined> =>
    isPersonalToken(bearer)
      ? await personalTokens.find(bearer, nowMs)
      : tokens.read(bearer, nowMs).catch(() => undefined);
  return {
    exchange: auditRejections(auditor, "sts.exchange", ownCaller, (request: ExchangeRequest, data) =>
      exchange(context, request, data),
    ),
    registryCaller: auditRejections(auditor, "sts.exchange", ownCaller, (request: RegistryLogIn, data) =>
      registryCaller(context, request, data),
    ),
    refresh: auditRejections(
      auditor,
      "sts.refresh",
      async () => undefined,
      (request: ExchangeRequest, data) => refresh(context, request, data),
    ),
    close: () => context.notes.close(),
  };
}

/** What an accepted token allows, before anything is issued for it. */
interface Accepted {
  caller: Caller & { audiences: string[] };
  row: IdentityRow;
  /** When what is issued for it ends at the latest, in milliseconds since 1970. */
  end: number;
  /** The id of the token of this issuer; undefined for the token of another one. */
  own?: string;
}

async function accept(context: Context, request: ExchangeRequest, data: CallData): Promise<Accepted> {
  const { bearer, identity = "", identityProvider = "", organizations = [] } = request;
  const wanted = parseNarrowing(request, context.audiences);
  if (identity !== "" && identityProvider !== "")
    throw invalidArgument({ field: "identity", description: "cannot be named together with an identity provider" });
  if (isPersonalToken(bearer)) {
    if (identityProvider !== "") throw rejection();
    const held = await context.personalTokens.require(bearer, data.nowMs);
    return acceptOwn(context, held, wanted, identity);
  }
  const jwt = parseJwt(bearer, MAX_EXTERNAL_LENGTH);
  if (!jwt) throw rejection();
  if (jwt.claims["iss"] !== context.config.baseUrl) {
    const requested = { identity, identityProvider, scopes: wanted.scopes ?? [], organizations };
    return acceptExternal(context, jwt, wanted, requested, data);
  }
  if (identityProvider !== "") throw rejection();
  const held = await context.tokens.read(jwt.token, data.nowMs);
  if (!(await isStillThere(context, held, data.nowMs))) throw rejection();
  return acceptOwn(context, held, wanted, identity);
}

async function acceptExternal(
  context: Context,
  jwt: Jwt,
  wanted: Narrowing,
  requested: Requested,
  data: CallData,
): Promise<Accepted> {
  const { row, end, ...carried } = await assumeIdentity(context, jwt, requested, data);
  const audiences = requestedAudiences(context, wanted);
  const held = heldByPassword(jwt, audiences, context.audiences.registry);
  return { caller: { identity: row.uid, ...narrow(held, wanted), audiences, ...carried }, row, end };
}

/** Whether what a token of this issuer came from is there: the browser session, or the personal token. */
async function isStillThere(
  { reader, personalTokens }: Context,
  { session, personalToken }: Caller,
  nowMs: number,
): Promise<boolean> {
  if (session !== undefined && !(await hasSession(reader, session))) return false;
  return personalToken === undefined || (await personalTokens.isThere(personalToken, nowMs));
}

/** Accepts the caller of a personal token or a token of this issuer for at most the same, and no longer. */
async function acceptOwn(context: Context, held: Caller, wanted: Narrowing, identity: string): Promise<Accepted> {
  const { audiences, reader } = context;
  // A registry token stands for some repositories, not for the identity.
  if (held.repositories || (identity !== "" && identity !== held.identity)) throw rejection();
  const row = await findIdentity(reader, held.identity);
  if (!row) throw rejection();
  // A platform token is accepted by the registry's token endpoint and by MCP as well; a token for either of these by
  // that alone.
  const allowed = held.audiences?.includes(audiences.platform)
    ? [audiences.platform, audiences.registry, audiences.mcp]
    : (held.audiences ?? []);
  const narrowing = {
    audiences: narrowAudiences(allowed, requestedAudiences(context, wanted)),
    ...narrow(held, wanted),
  };
  return { caller: { ...held, ...narrowing }, row, end: held.expiresAtMs ?? 0, own: held.tokenId ?? "" };
}

async function exchange(context: Context, request: ExchangeRequest, data: CallData): Promise<ExchangeAnswer> {
  const { caller, row, end, own } = await accept(context, request, data);
  const minted = await mint(context, caller, data.nowMs, end);
  const event = exchangeEntry("sts.exchange", caller, minted.tokenId, own);
  if (own !== undefined) {
    await context.notes.write({ identity: row.uid, event }, data);
    return { ...minted, refreshToken: "", refreshExpiresAtMs: 0, granted: caller };
  }
  const [issued] = await Promise.all([
    context.refreshTokens.issue(caller, row.relationship, end, data, event).catch((error: unknown) => {
      if (!isStorageFull(error)) throw error;
      context.notes.keep({ identity: row.uid, event }, data);
      return { token: "", expiresAtMs: 0 };
    }),
    recordSeen(context, row.uid, row.last_seen_time, data),
  ]);
  return { ...minted, refreshToken: issued.token, refreshExpiresAtMs: issued.expiresAtMs, granted: caller };
}

async function registryCaller(context: Context, request: RegistryLogIn, data: CallData): Promise<Caller> {
  const { config, audiences, notes } = context;
  const { caller, row, end, own } = await accept(context, { ...request, audiences: [audiences.registry] }, data);
  const expiresAtMs = endOfToken({ nowMs: data.nowMs, ttlMs: config.accessTokenTtlMs, notAfterMs: end });
  if (expiresAtMs <= data.nowMs) throw rejection();
  const tokenId = randomUUID();
  if (own === undefined)
    await notes.write({ identity: row.uid, event: exchangeEntry("sts.exchange", caller, tokenId) }, data);
  else if (isSeenDue(row.last_seen_time, data.nowMs)) notes.seen(row.uid, data.nowMs);
  return { ...caller, tokenId, expiresAtMs };
}

async function refresh(
  context: Context,
  { bearer, client, ...request }: ExchangeRequest,
  data: CallData,
): Promise<ExchangeAnswer> {
  const { refreshTokens } = context;
  const wanted = parseNarrowing(request, context.audiences);
  const held = await refreshTokens.read(bearer, data);
  // Source: RFC 6749 §6: a refresh token is for the client that it was issued to.
  if (client !== undefined && held.client !== undefined && client !== held.client) throw rejection();
  const narrowing = { audiences: narrowAudiences(held.audiences, wanted.audiences), ...narrow(held, wanted) };
  const minted = await mint(context, { ...held, ...narrowing }, data.nowMs, held.expiresAtMs);
  // The refresh token is used up last, so that a request that is rejected above does not cost it.
  const refreshToken = await refreshTokens.rotate(bearer, data, exchangeEntry("sts.refresh", held, minted.tokenId));
  await recordSeen(context, held.identity, held.lastSeenMs, data);
  return { ...minted, refreshToken, refreshExpiresAtMs: held.expiresAtMs, granted: narrowing };
}

/** The audiences of the request; the platform when it names none. */
function requestedAudiences({ audiences }: Context, wanted: Narrowing): string[] {
  return wanted.audiences.length === 0 ? [audiences.platform] : wanted.audiences;
}

function mint(
  { config, tokens }: Context,
  { identity, audiences, capabilities, scopes, session, personalToken, act, external, client }: Caller & Narrowing,
  nowMs: number,
  notAfterMs: number,
): Promise<MintedToken> {
  return tokens.mint({
    type: "access",
    identity,
    audiences,
    ttlMs: config.accessTokenTtlMs,
    nowMs,
    notAfterMs,
    ...(capabilities && { capabilities }),
    ...(scopes && { scopes }),
    ...(session !== undefined && { session }),
    ...(personalToken !== undefined && { personalToken }),
    ...(act && { act }),
    ...(external && { external }),
    ...(client !== undefined && { client }),
  });
}

/** Writes when the identity was last seen, at most once a minute. */
async function recordSeen(
  { notes }: Context,
  identity: string,
  lastSeenMs: number | null,
  data: CallData,
): Promise<void> {
  if (isSeenDue(lastSeenMs, data.nowMs)) await notes.write({ identity }, data);
}

function isSeenDue(lastSeenMs: number | null, nowMs: number): boolean {
  return lastSeenMs === null || nowMs - lastSeenMs >= SEEN_EVERY_MS;
}
