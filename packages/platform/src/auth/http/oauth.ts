import type { Caller } from "@moorage/kernel/core/call";
import { invalidArgument, MoorageError, Code } from "@moorage/kernel/errors";
import type { ExchangeAnswer, ExchangeRequest } from "../exchange/exchange.ts";
import { rejectionMessage } from "../exchange/rejections.ts";
import { capabilityOf, capabilityText, isWrongAudience } from "../tokens/tokens.ts";

// The grants that `parseTokenRequest` parses. Source: RFC 8693 (exchange), RFC 6749 §6 (refresh).
const EXCHANGE_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const REFRESH_GRANT = "refresh_token";
export const GRANTS = [EXCHANGE_GRANT, REFRESH_GRANT];

const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:";
const SUBJECT_TYPES = new Set([`${TOKEN_TYPE}jwt`, `${TOKEN_TYPE}id_token`, `${TOKEN_TYPE}access_token`]);
const ISSUED_TYPES = new Set([`${TOKEN_TYPE}access_token`, `${TOKEN_TYPE}jwt`]);

/** An error that is answered in OAuth's form. Source: RFC 6749 §5.2. */
export class OAuthError extends Error {
  readonly status: number;
  readonly error: string;

  constructor(status: number, error: string, description: string) {
    super(description);
    this.status = status;
    this.error = error;
  }
}

export interface OAuthRequest {
  grant: "exchange" | "refresh";
  issuedType: string;
  request: ExchangeRequest;
  /** The words of the scope that was asked for. */
  words: readonly string[];
}

/** The parameters without those that have no value: they count as omitted. Source: RFC 6749 §3.1, §3.2. */
export function withValues(parameters: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...parameters].filter(([, value]) => value !== ""));
}

/**
 * Parses the form of a token request. `scope` holds names of capabilities and uids of groups, separated by
 * spaces; `resource` is taken as an audience. Unknown parameters are ignored, as RFC 6749 §3.2 demands. Throws an
 * OAuthError.
 */
export function parseTokenRequest(form: URLSearchParams): OAuthRequest {
  const one = (name: string): string => {
    const values = form.getAll(name);
    if (values.length > 1) throw new OAuthError(400, "invalid_request", `${name} is given more than once`);
    return values[0] ?? "";
  };
  const required = (name: string): string => {
    const value = one(name);
    if (value === "") throw new OAuthError(400, "invalid_request", `${name} is required`);
    return value;
  };
  const grantType = required("grant_type");
  if (!GRANTS.includes(grantType))
    throw new OAuthError(400, "unsupported_grant_type", "the grant type is not supported");
  const words = scopeWords(one("scope"));
  const narrowing = words.filter((word) => !OPENID_WORDS.has(word));
  const common = {
    audiences: [...form.getAll("audience"), ...form.getAll("resource")],
    capabilities: narrowing.filter((word) => capabilityOf(word) !== undefined),
    scopes: narrowing.filter((word) => capabilityOf(word) === undefined),
  };
  if (grantType === REFRESH_GRANT) {
    return {
      grant: "refresh",
      words,
      issuedType: `${TOKEN_TYPE}access_token`,
      request: {
        bearer: required("refresh_token"),
        ...(one("client_id") !== "" && { client: one("client_id") }),
        ...common,
      },
    };
  }
  if (!SUBJECT_TYPES.has(required("subject_token_type")))
    throw new OAuthError(400, "invalid_request", "the subject token type is not supported");
  if (form.has("actor_token")) throw new OAuthError(400, "invalid_request", "an actor token is not supported");
  const issuedType = one("requested_token_type") || `${TOKEN_TYPE}access_token`;
  if (!ISSUED_TYPES.has(issuedType))
    throw new OAuthError(400, "invalid_request", "the requested token type is not supported");
  return {
    grant: "exchange",
    words,
    issuedType,
    request: {
      bearer: required("subject_token"),
      identity: one("identity"),
      identityProvider: one("identity_provider"),
      ...common,
    },
  };
}

/** Scopes that OpenID clients send by default; they narrow nothing, so they are ignored. */
const OPENID_WORDS: ReadonlySet<string> = new Set(["openid", "profile", "email", "offline_access"]);

/** The words of a scope, each once. Throws an OAuthError for a scope of spaces alone. Source: RFC 6749 §3.3. */
function scopeWords(text: string): string[] {
  const words = [...new Set(text.split(" ").filter((word) => word !== ""))];
  // Taken for no scope, it would widen a token that was meant to be narrow.
  if (text !== "" && words.length === 0) throw new OAuthError(400, "invalid_scope", "scope must have words");
  return words;
}

/** Those of the words of a scope that narrow a token. Throws as `scopeWords` does. */
export function narrowingWords(text: string): string[] {
  return scopeWords(text).filter((word) => !OPENID_WORDS.has(word));
}

/**
 * What a token is narrowed to as the scope of a token answer; undefined for one that is not narrowed, for which there
 * are no words.
 */
export function scopeOf({
  capabilities = [],
  scopes = [],
}: Pick<Caller, "capabilities" | "scopes">): string | undefined {
  const words = [...capabilities.map(capabilityText), ...scopes];
  return words.length === 0 ? undefined : words.join(" ");
}

/** Whether both scopes have the same words, in any order, whichever name of a capability each has. */
function isSameScope(asked: readonly string[], granted: string): boolean {
  const named = (word: string): string => {
    const capability = capabilityOf(word);
    return capability === undefined ? word : capabilityText(capability);
  };
  const words = new Set(asked.map(named));
  const given = granted.split(" ");
  return words.size === given.length && given.every((word) => words.has(word));
}

/** The answer to a token request, with the scope where that is another than asked. Source: RFC 8693 §2.2.1. */
export function tokenAnswer(
  { token, refreshToken, issuedAtMs, expiresAtMs, granted }: ExchangeAnswer,
  { issuedType, words }: Pick<OAuthRequest, "issuedType" | "words">,
): Record<string, unknown> {
  const scope = scopeOf(granted);
  return {
    access_token: token,
    issued_token_type: issuedType,
    token_type: "Bearer",
    expires_in: Math.max(0, (expiresAtMs - issuedAtMs) / 1000),
    ...(scope !== undefined && !isSameScope(words, scope) && { scope }),
    ...(refreshToken !== "" && { refresh_token: refreshToken }),
  };
}

/** The error in OAuth's form; undefined for a fault of the server. Source: RFC 6749 §5.2, RFC 8693 §2.2.2. */
export function toOAuthError(error: unknown, grant: OAuthRequest["grant"]): OAuthError | undefined {
  if (error instanceof OAuthError) return error;
  if (!(error instanceof MoorageError)) return undefined;
  switch (error.code) {
    case Code.Unauthenticated:
      return new OAuthError(400, grant === "refresh" ? "invalid_grant" : "invalid_request", described(error));
    case Code.PermissionDenied:
      return new OAuthError(400, isWrongAudience(error) ? "invalid_target" : "invalid_scope", error.message);
    case Code.InvalidArgument:
      return new OAuthError(
        400,
        OAUTH_OF_FIELD[error.details.fieldViolations?.[0]?.field ?? ""] ?? "invalid_request",
        error.message,
      );
    case Code.Unavailable:
      return new OAuthError(503, "temporarily_unavailable", error.message);
    default:
      return undefined;
  }
}

/**
 * Why the token was not accepted, limited to the characters that an error description may hold. Source: RFC 6749 §5.2.
 */
function described(error: MoorageError): string {
  const words = rejectionMessage(error);
  return `the token was not accepted${words === undefined ? "" : `: ${words.replaceAll('"', "'").replace(/[^\x20-\x7e]|\\/g, "?")}`}`;
}

const OAUTH_OF_FIELD: Record<string, string> = { aud: "invalid_target", cap: "invalid_scope", scopes: "invalid_scope" };

const PARAMETERS: Record<string, string> = {
  aud: "aud",
  identity: "identity",
  cap: "cap",
  scope: "scopes",
  scopes: "scopes",
  identity_provider: "identityProvider",
  identityProvider: "identityProvider",
};

/**
 * Parses the parameters of /sts/exchange and /sts/exchange_refresh_token. An unknown one is an error: a misspelt
 * `scopes` would otherwise give a wider token than was meant. Throws INVALID_ARGUMENT.
 */
export function parseExchangeParameters(parameters: URLSearchParams, bearer: string): ExchangeRequest {
  const values: Record<string, string[]> = { aud: [], identity: [], cap: [], scopes: [], identityProvider: [] };
  for (const [name, value] of parameters) {
    const list = Object.hasOwn(PARAMETERS, name) ? values[PARAMETERS[name] ?? ""] : undefined;
    if (!list) throw invalidArgument({ field: name.slice(0, 100), description: "is not a parameter" });
    list.push(value);
  }
  const single = (name: string): string => {
    const [value = "", second] = values[name] ?? [];
    if (second !== undefined) throw invalidArgument({ field: name, description: "is given more than once" });
    return value;
  };
  return {
    bearer,
    audiences: values["aud"] ?? [],
    capabilities: values["cap"] ?? [],
    scopes: values["scopes"] ?? [],
    identity: single("identity"),
    identityProvider: single("identityProvider"),
  };
}
