import { createLru } from "../../lib/lru.ts";
import type { Caller } from "../../core/call.ts";
import type { Config } from "../../config/index.ts";
import { MoorageError, unauthenticated } from "../../errors.ts";
import { createSnapshotCache, type Database, statement } from "../../store/index.ts";
import { ASSUMABLE } from "../exchange/assumable.ts";
import { rejection } from "./jwt.ts";
import { isWrongAudience, type Tokens } from "./tokens.ts";

/** Tells who calls, from the Authorization header of a call to the platform or to the registry. */
export type Authenticator = (
  authorization: string | undefined,
  audience: "platform" | "registry",
  nowMs: number,
) => Promise<Caller>;

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * The token in a Bearer header; undefined for an absent or malformed one, two in one included. Source: RFC 6750 §2.1.
 */
function bearerOf(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? "")?.[1];
}

/** The token in a Bearer header. Throws UNAUTHENTICATED when there is none, or no single one. */
export function requireBearer(authorization: string | undefined): string {
  const token = bearerOf(authorization);
  if (token === undefined)
    throw unauthenticated(!authorization ? "a bearer token is required" : "the authorization header is malformed");
  return token;
}

/**
 * Verifies the token and looks whether its identity still exists: a deleted one is out at once, and with a provider its
 * people. A token for some repositories opens the registry only. Throws UNAUTHENTICATED, or what `isWrongAudience`
 * knows.
 */
export function createAuthenticator(deps: {
  config: Pick<Config, "baseUrl" | "registryAudience">;
  tokens: Tokens;
  reader: Database;
}): Authenticator {
  const { config, tokens, reader } = deps;
  const existing = createSnapshotCache<true>(reader, MAX_KNOWN);
  const weightOf = ({ header }: Verified): number => header.length;
  const verified = {
    platform: createLru<string, Verified>(MAX_HEADERS_LENGTH, weightOf),
    registry: createLru<string, Verified>(MAX_HEADERS_LENGTH, weightOf),
  };
  const verify = async (
    header: string | undefined,
    audience: "platform" | "registry",
    nowMs: number,
  ): Promise<Caller> => {
    const token = requireBearer(header);
    const caller = await tokens
      .verify(token, audience === "platform" ? config.baseUrl : config.registryAudience, nowMs)
      .catch(async (error: unknown) => {
        if (error instanceof MoorageError && isWrongAudience(error))
          throw refusedTo(await tokens.read(token, nowMs), error);
        throw error;
      });
    if (caller.repositories && audience === "platform") throw refusedTo(caller, rejection());
    if (header !== undefined) verified[audience].set(header, { header, caller });
    return caller;
  };
  return async (authorization, audience, nowMs) => {
    // The same header as before, for the same audience: only what time changes is asked again.
    const known = authorization === undefined ? undefined : verified[audience].get(authorization);
    const caller =
      known !== undefined && tokens.isStillGood(known.caller, nowMs)
        ? known.caller
        : await verify(authorization, audience, nowMs);
    if (caller.identity !== "" && !(await existing.remember(caller.identity, () => exists(reader, caller.identity))))
      throw refusedTo(caller, rejection());
    return caller;
  };
}

const refusedCallers = new WeakMap<object, Caller>();

function refusedTo<E extends object>(caller: Caller, error: E): E {
  refusedCallers.set(error, caller);
  return error;
}

/** The error in another's place: it refused the same token. */
export function refusedLike<E extends object>(error: E, original: unknown): E {
  const caller = refusedCaller(original);
  return caller === undefined ? error : refusedTo(caller, error);
}

/**
 * Whose token it was that an error refused: a good one that is not good for this. Undefined: nobody's that is known.
 * For the audit log alone.
 */
export function refusedCaller(error: unknown): Caller | undefined {
  return typeof error === "object" && error !== null ? refusedCallers.get(error) : undefined;
}

interface Verified {
  header: string;
  caller: Caller;
}

const MAX_KNOWN = 10_000;
const MAX_HEADERS_LENGTH = 4 * 1024 * 1024;
const selectIdentity = statement(`select 1 from identities where uid = ? and ${ASSUMABLE}`);

async function exists(reader: Database, uid: string): Promise<true | undefined> {
  return (await selectIdentity(reader, uid)).length > 0 || undefined;
}
