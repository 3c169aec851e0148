import type { Addresses } from "@moorage/kernel/core/addresses";
import type { CallData } from "@moorage/kernel/core/call";
import type { Request, RequestHandler } from "@moorage/kernel/core/http";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { permissionDenied, unauthenticated } from "@moorage/kernel/errors";
import type { Database } from "@moorage/kernel/store";
import { sql } from "kysely";
import { ASSUMABLE } from "../../iam/index.ts";
import { SESSION_IDLE_MS } from "./sessions.ts";
import { storedCaller } from "../tokens/refresh.ts";
import { answerJson } from "../http/endpoints.ts";
import type { Tokens } from "../tokens/tokens.ts";
import type { BrowserDeps } from "./browser-endpoints.ts";
import type { Begun } from "./link-commands.ts";
import { hashOf } from "./secrets.ts";
import { endSession, seeSession } from "./session-commands.ts";

export interface SessionDeps extends Pick<BrowserDeps, "sessionCookie" | "callData"> {
  /** Under which URL a client reaches the platform. */
  addresses: Pick<Addresses, "platform">;
  reader: Database;
  writer: CommandWriter;
  tokens: Tokens;
}

const SEEN_EVERY_MS = 60_000;
const TOKEN_TTL_MS = 900_000;

/**
 * GET /session: the person who is signed in in this browser; 401 when there is none. DELETE /session: ends the session.
 */
export function sessionEndpoint(deps: SessionDeps): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    if (request.method === "DELETE") {
      requireOwnPage(deps, request);
      const secret = deps.sessionCookie.read(request);
      if (secret !== undefined) await deps.writer.write(endSession, call, { hash: hashOf(secret) });
      deps.sessionCookie.clear(response);
      return answerJson(request, response, 200, {});
    }
    answerJson(request, response, 200, shownSession(await requireSession(deps, request, call)));
  };
}

/** The answer that says who is signed in, and until when at the latest. */
export function shownSession({ identity, name, email, expireTimeMs }: Begun): object {
  return { identity, name, email, expireTime: new Date(expireTimeMs).toISOString() };
}

/** POST /session/token: an access token of 15 minutes, for scripts of our own pages alone. */
export function sessionTokenEndpoint(deps: SessionDeps): RequestHandler {
  return async (request, response, data) => {
    requireOwnPage(deps, request);
    const call = deps.callData(request, data);
    const { hash, uid: session, identity, provider, caller, expireTimeMs } = await requireSession(deps, request, call);
    const { token, tokenId, expiresAtMs } = await deps.tokens.mint({
      type: "access",
      ...caller,
      identity,
      session,
      ttlMs: TOKEN_TTL_MS,
      nowMs: call.nowMs,
      notAfterMs: expireTimeMs,
    });
    const event = {
      method: "session.token",
      resource: provider || identity,
      identity,
      act: caller.act ?? {},
      details: { token: tokenId },
    };
    await deps.writer.write(seeSession, call, { hash, event });
    answerJson(request, response, 200, { token, expiry: new Date(expiresAtMs).toISOString() });
  };
}

/**
 * The session of the browser's cookie. Throws UNAUTHENTICATED when it has ended, or its identity may no longer be
 * assumed.
 */
export async function requireSession(
  { sessionCookie, reader, writer }: Pick<SessionDeps, "sessionCookie" | "reader" | "writer">,
  request: Request,
  call: CallData,
) {
  const rejection = unauthenticated("nobody is signed in in this browser");
  const secret = sessionCookie.read(request);
  if (secret === undefined) throw rejection;
  const hash = hashOf(secret);
  const row = await reader
    .selectFrom("sessions")
    .innerJoin("identities", "identities.uid", "sessions.identity")
    .select([
      "sessions.uid",
      "sessions.identity",
      "caller",
      "seen_time",
      "expire_time",
      "account_time",
      "relationship",
      "name",
      "email",
      "provider",
    ])
    .where("hash", "=", hash)
    .where(sql.raw<boolean>(ASSUMABLE))
    .executeTakeFirst();
  if (row === undefined || row.expire_time <= call.nowMs || row.seen_time <= call.nowMs - SESSION_IDLE_MS)
    throw rejection;
  const caller = storedCaller(row.caller, row.relationship);
  if (caller === undefined) throw rejection;
  if (call.nowMs - row.seen_time >= SEEN_EVERY_MS) await writer.write(seeSession, call, { hash });
  return {
    hash,
    uid: row.uid,
    identity: row.identity,
    provider: row.provider,
    name: row.name,
    email: row.email,
    expireTimeMs: row.expire_time,
    accountTimeMs: row.account_time,
    relationship: row.relationship,
    caller,
  };
}

/**
 * Throws PERMISSION_DENIED for a request that a page of another site may have sent. The headers that state a request's
 * origin are set by the browser, and scripts cannot change them.
 */
export function requireOwnPage({ addresses }: Pick<SessionDeps, "addresses">, request: Request): void {
  const { headers } = request;
  // Browsers send Sec-Fetch-Site over https, and to the own machine; without it the page's origin must be that of the
  // request.
  if (
    headers["sec-fetch-site"] === "same-origin" ||
    (headers["sec-fetch-site"] === undefined && headers.origin === addresses.platform(request))
  )
    return;
  throw permissionDenied("only pages of this server may do this");
}
