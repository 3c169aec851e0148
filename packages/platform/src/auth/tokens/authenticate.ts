import { after, type Awaitable } from "@moorage/kernel/lib/awaitable";
import { createLru } from "@moorage/kernel/lib/lru";
import type { Caller } from "@moorage/kernel/core/call";
import type { Config } from "@moorage/kernel/config";
import { MoorageError, unauthenticated } from "@moorage/kernel/errors";
import { createKeyCache, type Database, statement } from "@moorage/kernel/store";
import { ASSUMABLE } from "../../iam/index.ts";
import { expiryFault, type PersonalTokens } from "./personal-callers.ts";
import { isPersonalToken } from "./personal-secret.ts";
import { rejection } from "./jwt.ts";
import { mcpResource } from "./mcp-resource.ts";
import { isWrongAudience, type Tokens } from "./tokens.ts";

/** What a token may be for. MCP takes tokens for the platform as well; no other takes those for MCP. */
type Audience = "platform" | "registry" | "mcp";

/** Authenticates a call to the platform, the registry or MCP by its Authorization header. */
export type Authenticator = (authorization: string | undefined, audience: Audience, nowMs: number) => Awaitable<Caller>;

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * The token in a Bearer header; undefined when the header is absent or malformed, or holds two tokens. Source: RFC 6750
 * §2.1.
 */
function bearerOf(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? "")?.[1];
}

/** The token in a Bearer header. Throws UNAUTHENTICATED when the header is absent or malformed. */
export function requireBearer(authorization: string | undefined): string {
  const token = bearerOf(authorization);
  if (token === undefined)
    throw unauthenticated(!authorization ? "a bearer token is required" : "the authorization header is malformed");
  return token;
}

/**
 * Verifies the token and checks that its identity still exists: the tokens of a deleted identity stop working
 * immediately, and so do those of a person whose identity provider was deleted, and those of a browser session that was
 * ended. A personal token is accepted for every audience until it expires or is revoked, and so is what was exchanged
 * for it. A registry token is accepted by the registry only. Throws UNAUTHENTICATED, or an error for which
 * `isWrongAudience` is true.
 */
export function createAuthenticator(deps: {
  config: Pick<Config, "baseUrl" | "registryAudience">;
  tokens: Tokens;
  personalTokens: Pick<PersonalTokens, "find" | "isThere">;
  reader: Database;
}): Authenticator {
  const { config, tokens, personalTokens, reader } = deps;
  const existing = createKeyCache<true>(reader, MAX_KNOWN);
  const weightOf = ({ header }: Verified): number => header.length;
  const verified = {
    platform: createLru<string, Verified>(MAX_HEADERS_LENGTH, weightOf),
    registry: createLru<string, Verified>(MAX_HEADERS_LENGTH, weightOf),
    mcp: createLru<string, Verified>(MAX_HEADERS_LENGTH, weightOf),
  };
  const accepted: Record<Audience, readonly string[]> = {
    platform: [config.baseUrl],
    registry: [config.registryAudience],
    mcp: [mcpResource(config.baseUrl), config.baseUrl],
  };
  const verify = async (header: string | undefined, audience: Audience, nowMs: number): Promise<Caller> => {
    const token = requireBearer(header);
    const caller = await tokens.verify(token, accepted[audience], nowMs).catch(async (error: unknown) => {
      if (error instanceof MoorageError && isWrongAudience(error))
        throw withCaller(await tokens.read(token, nowMs), error);
      throw error;
    });
    if (caller.repositories && audience !== "registry") throw withCaller(caller, rejection());
    if (header !== undefined) verified[audience].set(header, { header, caller });
    return caller;
  };
  const requireSession = (caller: Caller): Awaitable<Caller> => {
    const { session } = caller;
    if (session === undefined) return caller;
    const isThere = existing.remember(`session ${session}`, () => hasSession(reader, session));
    return after(isThere, (found) => {
      if (found !== true) throw withCaller(caller, rejection());
      return caller;
    });
  };
  const requirePersonal = (caller: Caller, nowMs: number): Awaitable<Caller> => {
    const { personalToken } = caller;
    if (personalToken === undefined) return requireSession(caller);
    return after(personalTokens.isThere(personalToken, nowMs), (isThere) => {
      if (!isThere) throw withCaller(caller, rejection());
      return requireSession(caller);
    });
  };
  const ofPersonalToken = (token: string, nowMs: number): Awaitable<Caller> =>
    after(personalTokens.find(token, nowMs), (caller) => {
      if (caller === undefined) throw rejection();
      const fault = expiryFault(caller, nowMs);
      if (fault !== undefined) throw withCaller(caller, fault);
      return caller;
    });
  const requireExisting = (caller: Caller, nowMs: number): Awaitable<Caller> =>
    caller.identity === ""
      ? caller
      : after(
          existing.remember(caller.identity, () => exists(reader, caller.identity)),
          (isThere) => {
            if (isThere !== true) throw withCaller(caller, rejection());
            return requirePersonal(caller, nowMs);
          },
        );
  return (authorization, audience, nowMs) => {
    // A header that was verified before for this audience: only what changes with time is checked again.
    const known = authorization === undefined ? undefined : verified[audience].get(authorization);
    if (known !== undefined && tokens.isStillGood(known.caller, nowMs)) return requireExisting(known.caller, nowMs);
    const token = bearerOf(authorization);
    if (token !== undefined && isPersonalToken(token)) return ofPersonalToken(token, nowMs);
    return verify(authorization, audience, nowMs).then((caller) => requireExisting(caller, nowMs));
  };
}

const rejectedCallers = new WeakMap<object, Caller>();

function withCaller<E extends object>(caller: Caller, error: E): E {
  rejectedCallers.set(error, caller);
  return error;
}

/** Copies to an error the caller whose token `original` rejected, when it replaces that error. */
export function withRejectedCaller<E extends object>(error: E, original: unknown): E {
  const caller = rejectedCaller(original);
  return caller === undefined ? error : withCaller(caller, error);
}

/**
 * The caller of a token that was valid, but was rejected for this call; undefined when the token was not valid. For the
 * audit log alone.
 */
export function rejectedCaller(error: unknown): Caller | undefined {
  return typeof error === "object" && error !== null ? rejectedCallers.get(error) : undefined;
}

interface Verified {
  header: string;
  caller: Caller;
}

const MAX_KNOWN = 10_000;
const MAX_HEADERS_LENGTH = 4 * 1024 * 1024;
const selectIdentity = statement(`select 1 from identities where uid = ? and ${ASSUMABLE}`, ["text"]);

const selectSession = statement("select 1 from sessions where uid = ?", ["text"]);

/** Whether the browser session with this uid was not ended. */
export function hasSession(reader: Database, uid: string): Awaitable<true | undefined> {
  return after(selectSession(reader, uid), (rows) => rows.length > 0 || undefined);
}

function exists(reader: Database, uid: string): Awaitable<true | undefined> {
  return after(selectIdentity(reader, uid), (rows) => rows.length > 0 || undefined);
}
