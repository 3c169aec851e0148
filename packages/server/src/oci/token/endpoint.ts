import type { Exchanger, RefreshTokens, Tokens } from "../../auth/index.ts";
import { isRefreshToken, rejectionMessage } from "../../auth/index.ts";
import { isUid } from "../../lib/uid.ts";
import { ANONYMOUS } from "../../core/call.ts";
import type { Caller } from "../../core/call.ts";
import type { RequestHandler } from "../../core/http.ts";
import { Code, invalidArgument, MoorageError } from "../../errors.ts";
import { openExchange } from "../request.ts";
import type { Exchange, RegistryDeps } from "../request.ts";
import { RegistryError } from "../errors.ts";
import { answerError } from "../router.ts";
import { sendJson } from "../send.ts";
import { wholeBodyOf } from "../body.ts";
import { grantedScopes } from "./grants.ts";
import { parseScopes, type RepositoryScope } from "./scopes.ts";

/** The dependencies of the token endpoint, beside those of the registry. */
export interface TokenDeps extends RegistryDeps {
  tokens: Pick<Tokens, "mint" | "read">;
  exchanger: Pick<Exchanger, "exchange">;
  refreshTokens: Pick<RefreshTokens, "read">;
  /** The lifetime of a registry token; one hour at most. */
  registryTokenTtlMs: number;
}

const MAX_FORM_BYTES = 65_536;
const MAX_CREDENTIAL_LENGTH = 20_000;
const MAX_LOGGED_SCOPES = 10;

/** A user name, possibly an identity's uid, and a token of some kind as the password. */
interface Credential {
  user: string;
  secret: string;
}

/**
 * GET and POST of `/token`: the distribution token protocol and its OAuth 2 form (grant_type `password` or
 * `refresh_token`). Answers a registry token for those of the requested scopes that the caller has rights for; without
 * credentials the token is anonymous. `service` and `account` are ignored: there is one service, and the credential
 * names the identity. Answers 400 naming a malformed `scope`, 401 for invalid credentials. The handler answers every
 * request itself and never throws. Source: docs/contract.md, "Registry tokens".
 */
export function tokenEndpoint(deps: TokenDeps): RequestHandler {
  return async (req, res, data) => {
    const url = req.url ?? "/";
    const cut = url.indexOf("?");
    const exchange = openExchange(req, res, data, deps, "", new URLSearchParams(cut < 0 ? "" : url.slice(cut + 1)));
    try {
      exchange.steps.admit();
      await answerToken(deps, exchange);
    } catch (error) {
      answerError(exchange, error);
    }
  };
}

async function answerToken(deps: TokenDeps, exchange: Exchange): Promise<void> {
  const { req, query, callData } = exchange;
  if (req.method !== "GET" && req.method !== "POST") {
    throw new RegistryError("UNSUPPORTED", "The method is not supported here", { headers: { allow: "GET, POST" } });
  }
  const parameters = req.method === "POST" ? await readForm(exchange) : query;
  const wanted = parseScopes(parameters.getAll("scope"));
  if ("problem" in wanted) throw invalidArgument({ field: "scope", description: wanted.problem });
  const credential =
    req.method === "POST" ? formCredential(parameters) : headerCredential(deps, req.headers.authorization);
  const caller = await exchange.steps.identify(async () =>
    credential ? callerOf(deps, exchange, credential, organizationsIn(wanted.scopes)) : ANONYMOUS,
  );
  const { granted, leftOut } = await deps.transactor.read({ ...callData, caller }, (call) =>
    grantedScopes(call, deps.config, wanted.scopes),
  );
  // The protocol leaves scopes out without an error, so the log says which rights were missing.
  if (leftOut.length > 0 && caller.identity !== "") {
    deps.log.info(
      { requestId: callData.requestId, identity: caller.identity, leftOut: leftOut.slice(0, MAX_LOGGED_SCOPES) },
      "scopes left out of a registry token",
    );
  }
  const { token, issuedAtMs, expiresAtMs } = await deps.tokens.mint({
    type: "registry",
    identity: caller.identity,
    audiences: [deps.config.registryAudience],
    ttlMs: deps.registryTokenTtlMs,
    nowMs: callData.nowMs,
    access: granted.map(({ name, actions }) => ({ type: "repository", name, actions })),
    // The token never grants more than the one it was exchanged for, and never expires later.
    ...(caller.expiresAtMs !== undefined && { notAfterMs: caller.expiresAtMs }),
    ...(caller.act && { act: caller.act }),
    ...(caller.external && { external: caller.external }),
    ...(caller.capabilities && { capabilities: caller.capabilities }),
    ...(caller.scopes && { scopes: caller.scopes }),
  });
  const body = {
    token,
    access_token: token,
    expires_in: Math.max(0, expiresAtMs - issuedAtMs) / 1000,
    issued_at: new Date(issuedAtMs).toISOString(),
  };
  const scope = granted.map(({ name, actions }) => `repository:${name}:${actions.join(",")}`).join(" ");
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  sendJson(exchange, 200, headers, req.method === "POST" ? { ...body, scope, token_type: "Bearer" } : body);
}

/** The credential of the Authorization header: Basic, or a platform token as Bearer. Undefined without the header. */
function headerCredential(deps: TokenDeps, authorization: string | undefined): Credential | undefined {
  if (authorization === undefined) return undefined;
  const [, scheme = "", value = ""] =
    /^(basic|bearer) +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization.slice(0, MAX_CREDENTIAL_LENGTH)) ?? [];
  if (scheme.toLowerCase() === "bearer") return { user: "", secret: value };
  const text = Buffer.from(value, "base64").toString();
  const cut = text.indexOf(":");
  if (scheme === "" || cut < 0) throw badCredential(deps);
  return { user: text.slice(0, cut), secret: text.slice(cut + 1) };
}

function formCredential(form: URLSearchParams): Credential {
  const grant = form.get("grant_type");
  if (grant === "password") return { user: form.get("username") ?? "", secret: form.get("password") ?? "" };
  if (grant === "refresh_token") return { user: "", secret: form.get("refresh_token") ?? "" };
  throw invalidArgument({ field: "grant_type", description: "must be password or refresh_token" });
}

/** The names of the organizations of the repositories. */
function organizationsIn(scopes: RepositoryScope[]): string[] {
  return [...new Set(scopes.map(({ name }) => name.split("/", 1)[0] ?? ""))];
}

/**
 * The caller of the credential: a platform token, a refresh token (which stays valid, since docker stores what it
 * logged in with), or the token of an external issuer, with the identity to assume as the user name. Throws
 * UNAUTHORIZED for all others, registry tokens included; the error gives the reason for an external token only.
 */
async function callerOf(
  deps: TokenDeps,
  { callData }: Exchange,
  { user, secret }: Credential,
  organizations: string[],
): Promise<Caller> {
  try {
    if (isRefreshToken(secret)) return await deps.refreshTokens.read(secret, callData);
    const request = {
      bearer: secret,
      ...(isUid(user) && { identity: user }),
      organizations,
      audiences: [deps.config.registryAudience],
      isForRegistry: true,
    };
    const { token } = await deps.exchanger.exchange(request, callData);
    return await deps.tokens.read(token, callData.nowMs);
  } catch (error) {
    const isRejected =
      error instanceof MoorageError && (error.code === Code.Unauthenticated || error.code === Code.PermissionDenied);
    throw isRejected ? badCredential(deps, error) : error;
  }
}

/**
 * The error for rejected credentials. It gives the reason for the token of an external issuer, as far as the token
 * exchange does, and none for other credentials.
 */
function badCredential({ config }: TokenDeps, error?: MoorageError): RegistryError {
  const words = error && rejectionMessage(error);
  const metadata = words === undefined ? undefined : error?.details.metadata;
  return new RegistryError(
    "UNAUTHORIZED",
    `Unauthenticated: the credentials were not accepted${words === undefined ? "" : `: ${words}`}`,
    {
      ...(metadata && { detail: metadata, details: { metadata } }),
      headers: { "www-authenticate": `Basic realm="${config.registryUrl}/token", charset="UTF-8"` },
    },
  );
}

async function readForm(exchange: Exchange): Promise<URLSearchParams> {
  const tooLarge = (): RegistryError =>
    new RegistryError("SIZE_INVALID", `Invalid argument: the form is larger than ${MAX_FORM_BYTES} bytes`, {
      status: 413,
    });
  return new URLSearchParams((await wholeBodyOf(exchange, MAX_FORM_BYTES, tooLarge)).toString());
}
