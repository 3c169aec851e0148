import type { Auditor } from "@moorage/kernel/audit";
import type { Caller, CallData } from "@moorage/kernel/core/call";
import type { Request, RequestData, RequestHandler, Response } from "@moorage/kernel/core/http";
import { Code, invalidArgument, MoorageError, permissionDenied, unauthenticated } from "@moorage/kernel/errors";
import { answerJson, authorizationOf, jsonFieldsOf } from "../http/endpoints.ts";
import { type Authenticator, rejectedCaller } from "../tokens/authenticate.ts";
import { rejection } from "../tokens/jwt.ts";
import { SESSION_TTL_MS } from "./flow.ts";
import type { Guesses } from "./guess-limit.ts";
import { type Begun, beginByToken, makeLink, SIGN_IN, takeLink } from "./link-commands.ts";
import { hashOf, isSecret, newSecret } from "./secrets.ts";
import { requireOwnPage, type SessionDeps, shownSession } from "./session-endpoints.ts";

export interface BeginDeps extends SessionDeps {
  authenticate: Authenticator;
  auditor: Pick<Auditor, "note">;
  /** Counts wrong links. */
  links: Guesses;
}

const LINK_TTL_MS = 600_000;
const LINK = "session.link";

/**
 * POST /session/links: a link that signs one browser in, once within ten minutes, as the caller. Its secret is in the
 * fragment, which browsers do not send: no log has it, and programs that look at links in messages do not use it up.
 */
export function sessionLinksEndpoint(deps: BeginDeps): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    const caller = await requireCaller(deps, request, data, call, LINK);
    if (caller.capabilities !== undefined || caller.scopes !== undefined)
      throw denied(deps, { ...call, caller }, LINK, "NARROWED", "a token that is narrowed makes no link");
    // Such a token lasts as long as the other issuer wants: a session would outlast it by hours.
    if (caller.act !== undefined)
      throw denied(
        deps,
        { ...call, caller },
        LINK,
        "EXCHANGED",
        "a token that another issuer's token was exchanged for makes no link: sign in through the identity provider",
      );
    const secret = newSecret();
    const expireTimeMs = call.nowMs + LINK_TTL_MS;
    if (!(await deps.writer.write(makeLink, call, { hash: hashOf(secret), caller, expireTimeMs }))) throw rejection();
    const url = `${deps.addresses.platform(request)}/sign-in/link#${secret}`;
    answerJson(request, response, 200, { url, expireTime: new Date(expireTimeMs).toISOString() });
  };
}

/** POST /session: begins a session in this browser, with a link that was made for it or with an access token. */
export async function beginSession(
  deps: BeginDeps,
  request: Request,
  response: Response,
  data: RequestData,
): Promise<void> {
  requireOwnPage(deps, request);
  const call = deps.callData(request, data);
  const secret = newSecret();
  const begun =
    authorizationOf(request) === undefined
      ? await byLink(deps, request, call, hashOf(secret))
      : await byToken(deps, request, data, call, hashOf(secret));
  deps.sessionCookie.set(response, secret, Math.floor((begun.expireTimeMs - call.nowMs) / 1000));
  answerJson(request, response, 200, shownSession(begun));
}

async function byLink(deps: BeginDeps, request: Request, call: CallData, sessionHash: string): Promise<Begun> {
  const { remoteAddress, nowMs } = call;
  const fields = await jsonFieldsOf(request);
  const link = fields.get("link");
  const other = [...fields.keys()].find((name) => name !== "link");
  if (other !== undefined) throw invalidArgument({ field: other.slice(0, 100), description: "is not a parameter" });
  if (link === undefined)
    throw invalidArgument({ field: "link", description: "is required where no access token is sent" });
  if (!deps.links.mayGuess(remoteAddress, nowMs))
    throw new MoorageError(
      Code.ResourceExhausted,
      "Resource exhausted: too many wrong links were tried from your network: try again in ten minutes",
    );
  const expireTimeMs = nowMs + SESSION_TTL_MS;
  const begun = isSecret(link)
    ? await deps.writer.write(takeLink, call, { hash: hashOf(link), sessionHash, expireTimeMs })
    : undefined;
  if (begun !== undefined) return begun;
  deps.links.failed(remoteAddress, nowMs);
  note(deps, call, SIGN_IN, Code.Unauthenticated, "LINK_NOT_ACCEPTED");
  throw unauthenticated("this link was used already, has expired, or is not whole: ask for a new one");
}

async function byToken(
  deps: BeginDeps,
  request: Request,
  data: RequestData,
  call: CallData,
  hash: string,
): Promise<Begun> {
  const caller = await requireCaller(deps, request, data, call, SIGN_IN);
  // A session must not outlive the token that it was made from.
  const expireTimeMs = Math.min(caller.expiresAtMs ?? 0, call.nowMs + SESSION_TTL_MS);
  const begun = await deps.writer.write(beginByToken, call, { hash, caller, expireTimeMs });
  if (begun === undefined) throw rejection();
  return begun;
}

/**
 * The caller of the request's platform token. Throws PERMISSION_DENIED for a personal token and what was exchanged for
 * one, since a session could make another, and for a token of a browser session: whoever gets
 * hold of one would otherwise make a session of it that lasts longer, and that stays when the first one is ended.
 */
async function requireCaller(
  deps: BeginDeps,
  request: Request,
  data: RequestData,
  call: CallData,
  method: string,
): Promise<Caller & { audiences: string[] }> {
  let caller: Caller;
  try {
    caller = await deps.authenticate(authorizationOf(request), "platform", call.nowMs);
  } catch (error) {
    if (error instanceof MoorageError) {
      const rejected = rejectedCaller(error);
      note(deps, { ...call, ...(rejected && { caller: rejected }) }, method, error.code, "TOKEN_NOT_ACCEPTED");
    }
    throw error;
  }
  data.authenticated?.();
  data.admit?.(caller.identity);
  if (caller.personalToken !== undefined)
    throw denied(
      deps,
      { ...call, caller },
      method,
      "PERSONAL_TOKEN",
      "a personal token begins no session: sign in as yourself",
    );
  if (caller.session !== undefined)
    throw denied(
      deps,
      { ...call, caller },
      method,
      "SESSION_TOKEN",
      "a token of a browser session begins no other one",
    );
  return { ...caller, audiences: caller.audiences ?? [] };
}

function denied(deps: BeginDeps, call: CallData, method: string, reason: string, message: string): MoorageError {
  note(deps, call, method, Code.PermissionDenied, reason);
  return permissionDenied(message, { reason });
}

function note({ auditor }: BeginDeps, call: CallData, method: string, code: Code, reason: string): void {
  auditor.note(call, { method, resource: call.caller.identity, decision: "denied", code, reason });
}
