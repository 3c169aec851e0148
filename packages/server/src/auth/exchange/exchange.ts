import { sql } from "kysely";
import type { AuditEvent, Auditor } from "../../audit/index.ts";
import { isUid } from "../../lib/uid.ts";
import type { Caller, CallData } from "../../core/call.ts";
import type { Config } from "../../config/index.ts";
import { Code, invalidArgument, MoorageError } from "../../errors.ts";
import { relationshipOf } from "../../iam/index.ts";
import type { Database, Row } from "../../store/index.ts";
import { ASSUMABLE } from "./assumable.ts";
import { exchanged, noting, withTruth } from "../audit.ts";
import type { CommandWriter } from "../../core/transactor.ts";
import { type ExternalVerifier, pickKey, verifySignature } from "./issuer-keys.ts";
import { type Jwt, parseJwt, rejection } from "../tokens/jwt.ts";
import { endOf, mismatch, namesIssuer, type Relationship, staticKeys } from "./claim-match.ts";
import { type Audiences, narrow, type Narrowing, type NarrowingRequest, parseNarrowing } from "./narrowing.ts";
import { type ProviderRequest, signInByToken } from "./provider.ts";
import { narrowAudiences, type RefreshTokens } from "../tokens/refresh.ts";
import { loggedClaims, loggedValue, refusedAnswer, type Refused } from "./rejections.ts";
import type { Tokens } from "../tokens/tokens.ts";
import { noteSeen } from "../tokens/commands.ts";

export interface ExchangeRequest extends NarrowingRequest {
  /** The external token, one of ours, or, for `refresh`, the refresh token. */
  bearer: string;
  /** The identity to become; none: the one whose issuer and subject are the token's. */
  identity?: string;
  /** Instead of an identity: the provider that the token was issued for, whose person is signed in. */
  identityProvider?: string;
  /**
   * A token of ours is traded on the way to a registry token: of those there are as many as pulls, and the audit log
   * has neither.
   */
  isForRegistry?: boolean;
}

/**
 * What is handed out. The refresh token is empty where a token of ours was exchanged: that must not lengthen its life.
 */
export interface ExchangeAnswer {
  token: string;
  refreshToken: string;
  issuedAtMs: number;
  expiresAtMs: number;
  refreshExpiresAtMs: number;
}

export interface Exchanger {
  /**
   * Throws UNAUTHENTICATED for whatever is not accepted, which says why as far as `rejections.ts` lets it;
   * INVALID_ARGUMENT for a bad wish; PERMISSION_DENIED for more than a token of ours holds; UNAVAILABLE when an issuer
   * cannot be asked.
   */
  exchange(request: ExchangeRequest, data: CallData): Promise<ExchangeAnswer>;
  /**
   * Trades a refresh token for a token and a refresh token that replaces it. The new token may be narrower than the
   * first one, never wider.
   */
  refresh(request: ExchangeRequest, data: CallData): Promise<ExchangeAnswer>;
}

export interface ExchangeDeps {
  config: Pick<Config, "baseUrl" | "registryAudience" | "accessTokenTtlMs">;
  reader: Database;
  writer: CommandWriter;
  tokens: Tokens;
  external: ExternalVerifier;
  refreshTokens: RefreshTokens;
  /** Told of what is refused. */
  auditor: Pick<Auditor, "note">;
  log: { info(fields: object, message: string): void };
}

const COLUMNS = ["uid", "relationship", "last_seen_time", "provider", "subject"] as const;
type IdentityRow = Pick<Row<"identities">, (typeof COLUMNS)[number]>;
interface Became extends Pick<Caller, "act" | "external"> {
  row: IdentityRow;
  end: number;
}
interface Candidate {
  row: IdentityRow;
  relationship: Relationship;
}

const MAX_EXTERNAL_LENGTH = 16_384;
const MAX_CANDIDATES = 20;
const SEEN_EVERY_MS = 60_000;

/** Token exchange. Source: contract §7, RFC 8693 for the idea. */
export function createExchanger(deps: ExchangeDeps): Exchanger {
  const { config, tokens, refreshTokens, writer } = deps;
  const audiences: Audiences = { platform: config.baseUrl, registry: config.registryAudience };

  const noteWhenDue = async (
    uid: string,
    lastSeenMs: number | null,
    data: CallData,
    event?: AuditEvent,
  ): Promise<void> => {
    const isDue = lastSeenMs === null || data.nowMs - lastSeenMs >= SEEN_EVERY_MS;
    if (isDue || event !== undefined) await writer.write(noteSeen, data, { identity: uid, ...(event && { event }) });
  };
  const whoseOwn = (bearer: string, nowMs: number): Promise<Caller | undefined> =>
    tokens.read(bearer, nowMs).catch(() => undefined);
  const mint = (
    { identity, audiences: aud, capabilities, scopes, act, external }: Caller & Narrowing,
    nowMs: number,
    notAfterMs: number,
  ) =>
    tokens.mint({
      type: "access",
      identity,
      audiences: aud,
      ttlMs: config.accessTokenTtlMs,
      nowMs,
      notAfterMs,
      ...(capabilities && { capabilities }),
      ...(scopes && { scopes }),
      ...(act && { act }),
      ...(external && { external }),
    });

  /**
   * Whom the token makes, when that ends, and what goes along. A provider's person is signed in whether the provider
   * was named or not.
   */
  const become = async (jwt: Jwt, identity: string, provider: string, data: CallData): Promise<Became> => {
    if (provider !== "") return signedIn(jwt, { provider, named: { identityProvider: provider } }, data);
    const { row, relationship } = await accepting(deps, jwt, identity, data);
    if (row.provider !== "")
      return signedIn(
        jwt,
        { provider: row.provider, named: identity === "" ? {} : { identity }, subject: row.subject },
        data,
      );
    return { row, end: endOf(relationship), act: actClaims(jwt.claims, MAX_ACT_LENGTH) };
  };
  const signedIn = async (jwt: Jwt, request: ProviderRequest, data: CallData): Promise<Became> => {
    const { identity, external } = await signInByToken(deps, jwt, request, data);
    const row = await findIdentity(deps.reader, identity);
    if (!row) throw rejection();
    return { row, end: Infinity, act: actClaims(jwt.claims, MAX_PERSON_ACT_LENGTH), ...(external && { external }) };
  };

  const exchangeOwn = async (
    jwt: Jwt,
    wanted: Narrowing,
    identity: string,
    data: CallData,
    isForRegistry: boolean,
  ): Promise<ExchangeAnswer> => {
    const held = await tokens.read(jwt.token, data.nowMs);
    // A registry token speaks for some repositories, not for the identity.
    if (held.repositories || (identity !== "" && identity !== held.identity)) throw rejection();
    const row = await findIdentity(deps.reader, held.identity);
    if (!row) throw rejection();
    const asked = wanted.audiences.length === 0 ? [audiences.platform] : wanted.audiences;
    // The platform's tokens open the registry's token endpoint anyway; the registry's open nothing of the platform's.
    const allowed = held.audiences?.includes(audiences.platform)
      ? [audiences.platform, audiences.registry]
      : (held.audiences ?? []);
    const narrowing = { audiences: narrowAudiences(allowed, asked), ...narrow(held, wanted) };
    const minted = await mint({ ...held, ...narrowing }, data.nowMs, held.expiresAtMs ?? 0);
    await noteWhenDue(
      row.uid,
      row.last_seen_time,
      data,
      isForRegistry ? undefined : exchanged("sts.exchange", held, minted.tokenId, held.tokenId),
    );
    return { ...minted, refreshToken: "", refreshExpiresAtMs: 0 };
  };

  return {
    exchange: noting(
      deps.auditor,
      "sts.exchange",
      whoseOwn,
      async (
        { bearer, identity = "", identityProvider = "", isForRegistry = false, ...request }: ExchangeRequest,
        data,
      ) => {
        const wanted = parseNarrowing(request, audiences);
        if (identity !== "" && identityProvider !== "")
          throw invalidArgument({
            field: "identity",
            description: "cannot be named together with an identity provider",
          });
        const jwt = parseJwt(bearer, MAX_EXTERNAL_LENGTH);
        if (!jwt) throw rejection();
        if (jwt.claims["iss"] === config.baseUrl) {
          if (identityProvider !== "") throw rejection();
          return exchangeOwn(jwt, wanted, identity, data, isForRegistry);
        }
        const { row, end, ...extra } = await become(jwt, identity, identityProvider, data);
        const narrowing = {
          ...wanted,
          audiences: wanted.audiences.length === 0 ? [audiences.platform] : wanted.audiences,
        };
        const caller = { identity: row.uid, ...narrowing, ...extra };
        const minted = await mint(caller, data.nowMs, end);
        const [refresh] = await Promise.all([
          refreshTokens.issue(caller, row.relationship, end, data, exchanged("sts.exchange", caller, minted.tokenId)),
          noteWhenDue(row.uid, row.last_seen_time, data),
        ]);
        return { ...minted, refreshToken: refresh.token, refreshExpiresAtMs: refresh.expiresAtMs };
      },
    ),
    refresh: noting(
      deps.auditor,
      "sts.refresh",
      async () => undefined,
      async ({ bearer, ...request }: ExchangeRequest, data) => {
        const wanted = parseNarrowing(request, audiences);
        const held = await refreshTokens.read(bearer, data);
        const narrowing = { audiences: narrowAudiences(held.audiences, wanted.audiences), ...narrow(held, wanted) };
        // Used up only when the answer is certain: a bad wish costs nothing.
        const minted = await mint({ ...held, ...narrowing }, data.nowMs, held.expiresAtMs);
        const refreshToken = await refreshTokens.rotate(bearer, data, exchanged("sts.refresh", held, minted.tokenId));
        await noteWhenDue(held.identity, held.lastSeenMs, data);
        return { ...minted, refreshToken, refreshExpiresAtMs: held.expiresAtMs };
      },
    ),
  };
}

/**
 * The one identity that accepts the token, with its signature verified. An issuer is asked for its keys only when an
 * identity names it. What fits is looked at after the signature: what is told of an identity is told to nobody who has
 * no token of an issuer that it names. An identity that is not there goes the same way as one that accepts nothing.
 */
async function accepting(
  deps: ExchangeDeps,
  jwt: Jwt,
  identity: string,
  { nowMs, requestId }: CallData,
): Promise<Candidate> {
  const { config, reader, external, log } = deps;
  let published: Promise<unknown> | undefined;
  const signatureError = ({ case: kind, value }: Relationship): Promise<unknown> =>
    kind === "staticKeys"
      ? settled(verifySignature(jwt, pickKey(staticKeys(value), jwt.header)))
      : (published ??= settled(external.verify(jwt, nowMs)));
  const judge = async (relationship: Relationship): Promise<Refused | undefined> => {
    if (!namesIssuer(relationship, jwt.claims))
      return notAccepted("the identity does not name the issuer, cannot be assumed, or does not exist");
    const error = await signatureError(relationship);
    if (error === undefined) return mismatch(relationship, jwt.claims, config.baseUrl, nowMs);
    if (!(error instanceof MoorageError) || error.code !== Code.Unauthenticated) throw error;
    return notAccepted(error.cause instanceof Error ? error.cause.message : "bad signature or unknown key");
  };
  const accepted: Candidate[] = [];
  let failure: unknown;
  let refused: Refused & { identity: string } = { ...notAccepted("no identity has the issuer and subject"), identity };
  const rows = await candidates(reader, jwt, identity);
  for (const row of rows.length === 0 && identity !== "" ? [undefined] : rows) {
    const relationship = row ? relationshipOf(row) : NO_RELATIONSHIP;
    try {
      const reason = await judge(relationship);
      if (reason) refused = { ...reason, identity: row?.uid ?? identity };
      else if (row) accepted.push({ row, relationship });
    } catch (error) {
      failure = error;
    }
  }
  const [first, second] = accepted;
  if (second)
    throw invalidArgument({ field: "identity", description: "several identities accept this token: name one of them" });
  if (first) return first;
  if (failure !== undefined) throw failure;
  log.info(
    { requestId, ...refused, ...loggedClaims(jwt), value: loggedValue(jwt, refused.claim) },
    "token exchange refused",
  );
  throw withTruth(refusedAnswer(refused, jwt, identity === "" ? {} : { identity }), refused);
}

const NO_RELATIONSHIP: Relationship = { case: undefined };

function notAccepted(why: string): Refused {
  return { reason: "NOT_ACCEPTED", claim: "", why };
}

async function candidates(reader: Database, { claims }: Jwt, identity: string): Promise<IdentityRow[]> {
  if (identity !== "") {
    const row = isUid(identity) ? await findIdentity(reader, identity) : undefined;
    return row ? [row] : [];
  }
  const { iss, sub } = claims;
  if (typeof iss !== "string" || typeof sub !== "string" || iss === "" || sub === "") return [];
  return reader
    .selectFrom("identities")
    .select(COLUMNS)
    .where("issuer", "=", iss)
    .where("subject", "=", sub)
    .where(sql.raw<boolean>(ASSUMABLE))
    .orderBy("uid")
    .limit(MAX_CANDIDATES)
    .execute();
}

function findIdentity(reader: Database, uid: string): Promise<IdentityRow | undefined> {
  return reader
    .selectFrom("identities")
    .select(COLUMNS)
    .where("uid", "=", uid)
    .where(sql.raw<boolean>(ASSUMABLE))
    .executeTakeFirst();
}

/** The error, or undefined when there is none. */
async function settled(work: Promise<void>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error;
  }
}

const NOT_CARRIED = new Set(["exp", "nbf", "iat", "jti", "nonce", "at_hash", "c_hash"]);
const MAX_ACT_LENGTH = 2048;
/** Of what goes along of a person's token, in characters: groups go along as well. */
export const MAX_PERSON_ACT_LENGTH = 1024;

/**
 * The plain claims of the external token that go along for events and audit: issuer and subject first, as many others
 * as fit.
 */
export function actClaims(claims: Record<string, unknown>, maxLength: number): Record<string, unknown> {
  const act: Record<string, unknown> = {};
  let length = 0;
  for (const [name, value] of [["iss", claims["iss"]], ["sub", claims["sub"]], ...Object.entries(claims)] as [
    string,
    unknown,
  ][]) {
    if (NOT_CARRIED.has(name) || Object.hasOwn(act, name) || !["string", "number", "boolean"].includes(typeof value))
      continue;
    // As a token holds it: what is escaped, or of other alphabets, takes more room than it has characters.
    length += Buffer.byteLength(JSON.stringify([name, value]));
    if (length > maxLength) break;
    Object.defineProperty(act, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return act;
}
