import type { Config } from "@moorage/kernel/config";
import { ANONYMOUS, type CallData } from "@moorage/kernel/core/call";
import {
  readBody,
  type Request,
  type RequestData,
  type RequestHandler,
  type Response,
} from "@moorage/kernel/core/http";
import { Code, invalidArgument, MoorageError } from "@moorage/kernel/errors";
import type { Clock } from "@moorage/kernel/lib/clock";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { SIGNING_ALGORITHM } from "@moorage/kernel/signing/keys";
import { requireBearer } from "../tokens/authenticate.ts";
import { mcpResource } from "../tokens/mcp-resource.ts";
import type { ExchangeAnswer, Exchanger } from "../exchange/exchange.ts";
import type { Keyring } from "../tokens/keys.ts";
import type { TokenGrants } from "./token-grants.ts";
import {
  GRANTS,
  OAuthError,
  type OAuthRequest,
  parseExchangeParameters,
  parseTokenRequest,
  toOAuthError,
  tokenAnswer,
  withValues,
} from "./oauth.ts";

/** Answers an error as AIP-193 JSON, with the HTTP status of its code or with `status`. */
type AnswerError = (response: Response, error: unknown, data: RequestData, status?: number) => void;

export interface StsDeps {
  config: Pick<Config, "baseUrl" | "registryUrl" | "mcp">;
  clock: Clock;
  keyring: Keyring;
  exchanger: Exchanger;
  /** The grants of the token endpoint for people who sign in. */
  grants: TokenGrants;
  answerError: AnswerError;
}

const FORM = "application/x-www-form-urlencoded";
const MAX_BODY_BYTES = 65_536;

/**
 * The endpoints of the token issuer, by path: discovery, keys and token exchange. Source: docs/contract.md,
 * "Authentication"; OpenID Connect Discovery 1.0; RFC 8693.
 */
export function createStsEndpoints(deps: StsDeps): Record<string, RequestHandler> {
  const { config, clock, keyring, exchanger, grants } = deps;
  const callData = callDataOf(clock);
  const discovery = guarded(deps, ["GET", "HEAD"], async (request, response) => {
    answerJson(request, response, 200, discoveryDocument(config, grants), "public, max-age=300");
  });
  return {
    "/.well-known/openid-configuration": discovery,
    "/.well-known/oauth-authorization-server": discovery,
    "/.well-known/jwks.json": guarded(deps, ["GET", "HEAD"], async (request, response) => {
      // Cached for a minute only, so that a new key is known soon after a rotation.
      answerJson(request, response, 200, await keyring.jwks(clock.nowMs()), "public, max-age=60");
    }),
    "/sts/exchange": guarded(deps, ["GET", "POST"], async (request, response, data) => {
      const bearer = requireBearer(authorizationOf(request));
      const exchange = parseExchangeParameters(await parametersOf(request), bearer);
      const { token, refreshToken, expiresAtMs } = await exchanger.exchange(exchange, callData(request, data));
      answerJson(request, response, 200, rawToken(token, refreshToken, expiresAtMs));
    }),
    "/sts/exchange_refresh_token": guarded(deps, ["GET", "POST"], async (request, response, data) => {
      const bearer = requireBearer(authorizationOf(request));
      const refresh = parseExchangeParameters(await parametersOf(request), bearer);
      const { identity, identityProvider, ...rest } = refresh;
      if (identity || identityProvider)
        throw invalidArgument({ field: identity ? "identity" : "identityProvider", description: "is not a parameter" });
      answerJson(request, response, 200, tokenPair(await exchanger.refresh(rest, callData(request, data))));
    }),
    "/sts/token": guarded(deps, ["POST"], (request, response, data) =>
      answerTokenRequest(deps, request, response, data),
    ),
  };
}

/**
 * The discovery document. Source: OpenID Connect Discovery 1.0 §3; RFC 8414 §2, 8628 §4, 9207 §3, 9728 §4;
 * draft-ietf-oauth-client-id-metadata-document §5.
 */
function discoveryDocument(
  { baseUrl: issuer, registryUrl, mcp }: Pick<Config, "baseUrl" | "registryUrl" | "mcp">,
  grants: TokenGrants,
): object {
  return {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    token_endpoint: `${issuer}/sts/token`,
    grant_types_supported: [...GRANTS, ...Object.keys(grants)],
    authorization_endpoint: `${issuer}/oauth/authorize`,
    device_authorization_endpoint: `${issuer}/oauth/device_authorization`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    response_modes_supported: ["query"],
    authorization_response_iss_parameter_supported: true,
    ...(mcp && { client_id_metadata_document_supported: true }),
    protected_resources: [registryUrl, ...(mcp ? [mcpResource(issuer)] : [])],
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [SIGNING_ALGORITHM],
    token_endpoint_auth_methods_supported: ["none"],
    claims_supported: [
      "iss",
      "sub",
      "aud",
      "iat",
      "nbf",
      "exp",
      "jti",
      "act",
      "cap",
      "scopes",
      "sid",
      "pat",
      "client_id",
      "access",
      "idp",
      "groups",
      "groups_set",
      "groups_exp",
    ],
  };
}

async function answerTokenRequest(
  { clock, exchanger, grants }: StsDeps,
  request: Request,
  response: Response,
  data: RequestData,
): Promise<void> {
  const callData = callDataOf(clock)(request, data);
  let grant: OAuthRequest["grant"] = "exchange";
  try {
    const form = await formOf(request);
    const [type = "", second] = form.getAll("grant_type");
    const redeem = second === undefined && Object.hasOwn(grants, type) ? grants[type] : undefined;
    if (redeem !== undefined) {
      grant = "refresh";
      return answerJson(request, response, 200, await redeem(form, callData));
    }
    const asked = parseTokenRequest(form);
    grant = asked.grant;
    const answer = await exchanger[grant](asked.request, callData);
    answerJson(request, response, 200, tokenAnswer(answer, asked));
  } catch (error) {
    const oauthError = toOAuthError(error, grant);
    if (!oauthError) throw error;
    answerJson(request, response, oauthError.status, {
      error: oauthError.error,
      error_description: oauthError.message,
    });
  }
}

/** Wraps the handler: answers 405 to other methods, and answers the errors that it throws. */
export function guarded(
  { answerError }: Pick<StsDeps, "answerError">,
  methods: string[],
  handler: RequestHandler,
): RequestHandler {
  return async (request, response, data) => {
    try {
      if (!methods.includes(request.method ?? "")) {
        response.setHeader("allow", methods.join(", "));
        return answerError(
          response,
          new MoorageError(Code.Unimplemented, "Method not allowed", { area: "oidc" }),
          data,
          405,
        );
      }
      await handler(request, response, data);
    } catch (error) {
      if (error instanceof MoorageError) error.details.area ??= "oidc";
      answerError(response, error, data);
    }
  };
}

export function answerJson(
  request: Request,
  response: Response,
  status: number,
  body: object,
  cacheControl = "no-store",
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.statusCode = status;
  for (const [name, value] of [
    ["content-type", "application/json"],
    ["content-length", String(bytes.length)],
    ["cache-control", cacheControl],
  ] as const) {
    response.setHeader(name, value);
  }
  if (request.method === "HEAD") response.end();
  else response.end(bytes);
}

/** A RawToken as proto3 JSON, with timestamps of three decimals. Source: docs/contract.md, "JSON". */
function rawToken(token: string, refreshToken: string, expiresAtMs: number): object {
  return { token, refreshToken, expiry: new Date(expiresAtMs).toISOString() };
}

function tokenPair({ token, refreshToken, expiresAtMs, refreshExpiresAtMs }: ExchangeAnswer): object {
  return { token: rawToken(token, "", expiresAtMs), refreshToken: rawToken(refreshToken, "", refreshExpiresAtMs) };
}

/** The CallData of a request before its caller is authenticated. */
export function callDataOf(clock: Clock): (request: Request, data: RequestData) => CallData {
  return ({ headers }, { requestId, remoteAddress }) => ({
    caller: ANONYMOUS,
    requestId,
    remoteAddress,
    nowMs: clock.nowMs(),
    userAgent: headers["user-agent"] ?? "",
  });
}

/** All Authorization headers joined, so that two of them are malformed: node:http drops the second one silently. */
export function authorizationOf({ rawHeaders }: Request): string | undefined {
  const values = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "authorization",
  );
  return values.length === 0 ? undefined : values.join(", ");
}

/**
 * The parameters of the query and, for a POST, of the body: a form, or a JSON object of strings and lists of strings,
 * which is what a body without a Content-Type is taken for.
 */
async function parametersOf(request: Request): Promise<URLSearchParams> {
  const parameters = new URL(request.url ?? "/", "http://localhost").searchParams;
  if (request.method !== "POST") return parameters;
  const body = await bodyText(request);
  if (body !== "") for (const [name, value] of entriesOf(body, mediaType(request))) parameters.append(name, value);
  return parameters;
}

function entriesOf(body: string, type: string): Iterable<[string, string]> {
  if (type === FORM) return new URLSearchParams(body);
  if (type === "application/json" || type === "") return jsonEntries(body);
  throw invalidArgument({ field: "body", description: `must be ${FORM} or application/json` });
}

/** The form in the request's body, as `withValues` reads it. Throws an OAuthError for another media type. */
export async function formOf(request: Request): Promise<URLSearchParams> {
  if (mediaType(request) !== FORM) throw new OAuthError(400, "invalid_request", `the body must be ${FORM}`);
  return withValues(new URLSearchParams(await bodyText(request)));
}

/** The texts in the JSON object that is the request's body. Throws INVALID_ARGUMENT for anything else. */
export async function jsonFieldsOf(request: Request): Promise<ReadonlyMap<string, string>> {
  if (mediaType(request) !== "application/json")
    throw invalidArgument({ field: "body", description: "must be application/json" });
  return new Map(jsonEntries(await bodyText(request)));
}

function jsonEntries(body: string): [string, string][] {
  let document: unknown;
  try {
    document = parseJson(body, 8);
  } catch {
    throw invalidArgument({ field: "body", description: "is not well-formed JSON" });
  }
  if (!isObject(document)) throw invalidArgument({ field: "body", description: "must be an object" });
  return Object.entries(document).flatMap(([name, value]) => {
    const field = name.slice(0, 100);
    // Ignoring an empty list would widen the token that it was meant to narrow.
    if (Array.isArray(value) && value.length === 0)
      throw invalidArgument({ field, description: "must not be an empty list" });
    return (Array.isArray(value) ? value : [value]).map((one: unknown): [string, string] => {
      if (typeof one !== "string") throw invalidArgument({ field, description: "must be text" });
      return [name, one];
    });
  });
}

function mediaType(request: Request): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

async function bodyText(request: Request): Promise<string> {
  const body = await readBody(request, { maxBytes: MAX_BODY_BYTES }, (problem) =>
    invalidArgument({
      field: "body",
      description: problem === "too large" ? `is larger than ${MAX_BODY_BYTES} bytes` : "was cut short",
    }),
  );
  return body.toString("utf8");
}
