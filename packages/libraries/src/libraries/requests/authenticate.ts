import { hash } from "node:crypto";
import { withRejectedCaller } from "@moorage/platform/auth";
import { ANONYMOUS, type Caller } from "@moorage/kernel/core/call";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { createLru } from "@moorage/kernel/lib/lru";
import { callerOf, headerCredential } from "@moorage/registry/oci";
import { type LibraryDeps, type LibraryExchange, read } from "./exchange.ts";
import { libraryError } from "../http/errors.ts";
import { findGroup } from "../http/groups.ts";

/**
 * Authenticates the caller and sets it in the exchange. Clients send the password in Basic, with any user name, or as
 * Bearer: a personal token, a pull or push token, a token of the registry or of the platform, a refresh token, or the
 * token of an external issuer, with the identity to assume as the user name. Without any, the caller is anonymous,
 * which is enough to read in a public group. `group`: the path of the group whose libraries are wanted. Throws 401 with
 * a Basic challenge, and 403 for a token that is good for some images alone.
 */
export async function authenticate(exchange: LibraryExchange, group: readonly string[]): Promise<Caller> {
  const { req, callData, steps } = exchange;
  const [organization = ""] = group;
  const credential = headerCredential(req.headers.authorization);
  if (credential === undefined) {
    const caller = await steps.identify(() => ANONYMOUS);
    if (await isPublic(exchange, group)) return caller;
    throw unauthorized(exchange, "a token is required");
  }
  if (credential === "malformed") throw unauthorized(exchange, "the credentials are malformed");
  const caller = await steps.identify(async () => {
    const found = await callerWith(exchange, credential, organization);
    if (found.identity === "") throw unauthorized(exchange, "a token is required");
    return (exchange.caller = found);
  });
  exchange.callData = { ...callData, caller };
  if (caller.repositories !== undefined)
    throw libraryError(403, "Permission denied: the token is for images of the registry alone");
  return caller;
}

/**
 * Whether everybody may read the group's libraries. Of a path that is not there the innermost group that is counts, so
 * that the answer does not say which private groups there are.
 */
async function isPublic(exchange: LibraryExchange, group: readonly string[]): Promise<boolean> {
  const { req, ecosystem } = exchange;
  if (req.method !== "GET" && req.method !== "HEAD") return false;
  return await read(exchange, async (call) => {
    const { innermost } = await findGroup(call, group);
    return innermost !== undefined && (await call.may(ecosystem.read, innermost));
  });
}

/** The error that has a client send credentials. */
function unauthorized(exchange: LibraryExchange, why: string): MoorageError {
  return libraryError(401, `Unauthenticated: ${why}`, { "www-authenticate": challengeOf(exchange) });
}

interface Credential {
  user: string;
  secret: string;
}

const MAX_KNOWN = 10_000;
/** Tokens of ours for what clients send, by its SHA-256. */
const known = new WeakMap<LibraryDeps["credentials"], ReturnType<typeof createLru<string, string>>>();

async function callerWith(exchange: LibraryExchange, credential: Credential, organization: string): Promise<Caller> {
  const { deps, callData } = exchange;
  const tokens = tokensOf(deps);
  const key = hash("sha256", `${credential.user}\0${credential.secret}\0${organization}`, "base64");
  const token = tokens.get(key);
  if (token !== undefined) {
    const caller = await tokenOfOurs(exchange, token);
    if (caller !== undefined) return caller;
    tokens.delete(key);
  }
  // After what is known: to find out that a password is no token of ours takes longer than all the rest.
  const verified = await tokenOfOurs(exchange, credential.secret);
  if (verified !== undefined) return verified;
  const caller = await callerOf(deps.credentials, credential, {
    organizations: organization === "" ? [] : [organization],
    authenticate: () => challengeOf(exchange),
    callData,
  }).catch((error: unknown) => {
    const isRejected = error instanceof MoorageError && error.code === Code.Unauthenticated;
    throw isRejected
      ? withRejectedCaller(unauthorized(exchange, error.message.replace(/^Unauthenticated: /, "")), error)
      : error;
  });
  tokens.set(key, await mintFor(deps, caller, callData.nowMs));
  return caller;
}

function challengeOf({ deps, req }: LibraryExchange): string {
  return `Basic realm="${deps.addresses.registry(req)}", charset="UTF-8"`;
}

function tokensOf({ credentials }: LibraryDeps): ReturnType<typeof createLru<string, string>> {
  const found = known.get(credentials) ?? createLru<string, string>(MAX_KNOWN);
  known.set(credentials, found);
  return found;
}

/** The caller of a token for the registry; undefined for any other text. */
async function tokenOfOurs({ deps, callData }: LibraryExchange, token: string): Promise<Caller | undefined> {
  try {
    return await deps.authenticate(`Bearer ${token}`, "registry", callData.nowMs);
  } catch (error) {
    if (!(error instanceof MoorageError)) throw error;
    if (error.code !== Code.Unauthenticated && error.code !== Code.PermissionDenied) throw error;
    return undefined;
  }
}

/**
 * A token of ours for the caller, as docker gets one at the token endpoint: verifying it costs no more than a look at
 * whether its identity is still there, and it grants nothing beyond what the caller sent.
 */
async function mintFor({ credentials, config }: LibraryDeps, caller: Caller, nowMs: number): Promise<string> {
  const { token } = await credentials.tokens.mint({
    type: "access",
    identity: caller.identity,
    audiences: [config.registryAudience],
    ttlMs: config.registryTokenTtlMs,
    nowMs,
    ...(caller.expiresAtMs !== undefined && { notAfterMs: caller.expiresAtMs }),
    ...(caller.act && { act: caller.act }),
    ...(caller.external && { external: caller.external }),
    ...(caller.capabilities && { capabilities: caller.capabilities }),
    ...(caller.scopes && { scopes: caller.scopes }),
    ...(caller.session !== undefined && { session: caller.session }),
    ...(caller.personalToken !== undefined && { personalToken: caller.personalToken }),
  });
  return token;
}
