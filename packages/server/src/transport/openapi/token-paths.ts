import type { Code } from "@moorage/kernel/errors";
import { errorResponses } from "./errors.ts";
import type { Schema } from "./schemas.ts";

const text = { type: "string" };
const texts = { type: "array", items: text };
const FORM = "application/x-www-form-urlencoded";

function query(name: string, description: string, more: { schema?: Schema; required?: boolean } = {}): Schema {
  return { name, in: "query", description, schema: text, ...more };
}

function answered(schema: Schema, description = "The answer."): Schema {
  return { description, content: { "application/json": { schema } } };
}

/** Parameters of an exchange; each may stand in the query or in the body. */
const NARROWING = {
  aud: { ...texts, description: "What the token is for: the platform's URL, or the registry's host. Repeatable." },
  cap: { ...texts, description: "The capabilities to keep, by name; all of the identity when absent. Repeatable." },
  scopes: { ...texts, description: "The uids of the groups to keep; all when absent. Repeatable." },
};
const CHOOSING = {
  identity: { ...text, description: "The uid of the identity to become, where more than one accepts the token." },
  identityProvider: { ...text, description: "The uid of the provider whose ID token is traded." },
};
const RAW_TOKEN = {
  type: "object",
  properties: { token: text, refreshToken: text, expiry: { type: "string", format: "date-time" } },
  required: ["token", "refreshToken", "expiry"],
};
const STS_ERRORS: (keyof typeof Code)[] = [
  "InvalidArgument",
  "Unauthenticated",
  "PermissionDenied",
  "ResourceExhausted",
  "Unavailable",
];

function exchange(id: string, summary: string, description: string, answer: Schema, parameters: object): Schema {
  const shared = {
    tags: ["Tokens"],
    summary,
    description,
    responses: { 200: answered(answer, "The tokens."), ...errorResponses(STS_ERRORS) },
  };
  const inQuery = Object.entries(parameters as Record<string, { description: string }>).map(
    ([name, { description: what, ...schema }]) => query(name, what, { schema }),
  );
  const body = { schema: { type: "object", properties: parameters, additionalProperties: false } };
  return {
    get: { operationId: `${id}ByQuery`, ...shared, parameters: inQuery },
    post: {
      operationId: id,
      ...shared,
      parameters: inQuery,
      requestBody: { required: false, content: { "application/json": body, [FORM]: body } },
    },
  };
}

const OAUTH_ERROR = answered(
  { type: "object", properties: { error: text, error_description: text }, required: ["error"] },
  "An error of OAuth. Source: RFC 6749 §5.2, RFC 8693 §2.2.2.",
);

const TOKEN_REQUEST = {
  type: "object",
  properties: {
    grant_type: { ...text, examples: ["urn:ietf:params:oauth:grant-type:token-exchange", "refresh_token"] },
    subject_token: { ...text, description: "The token to trade." },
    subject_token_type: { ...text, examples: ["urn:ietf:params:oauth:token-type:jwt"] },
    requested_token_type: text,
    audience: { ...text, description: "What the token is for." },
    scope: { ...text, description: "Capabilities and uids of groups to keep, by spaces." },
    identity: CHOOSING.identity,
    identity_provider: CHOOSING.identityProvider,
    refresh_token: text,
  },
  required: ["grant_type"],
};

/** The paths of the token issuer. Source: docs/contract.md, "Authentication"; RFC 8693. */
export const STS_PATHS: Record<string, Schema> = {
  "/sts/exchange": exchange(
    "exchange",
    "Exchange token",
    "Trades a token of another issuer, sent as Bearer, for one of this server. An unknown parameter is an error.",
    RAW_TOKEN,
    { ...NARROWING, ...CHOOSING },
  ),
  "/sts/exchange_refresh_token": exchange(
    "exchangeRefreshToken",
    "Exchange refresh token",
    "Trades a refresh token, sent as Bearer, for a new pair of tokens. A refresh token is taken once.",
    { type: "object", properties: { token: RAW_TOKEN, refreshToken: RAW_TOKEN }, required: ["token", "refreshToken"] },
    NARROWING,
  ),
  "/sts/token": {
    post: {
      operationId: "oauthToken",
      tags: ["Tokens"],
      summary: "Token endpoint",
      description: "The exchange in the form of RFC 8693, and the grants by which people sign in.",
      security: [],
      parameters: [],
      requestBody: { required: true, content: { [FORM]: { schema: TOKEN_REQUEST } } },
      responses: {
        200: answered({
          type: "object",
          properties: {
            access_token: text,
            issued_token_type: text,
            token_type: text,
            expires_in: { type: "number" },
            refresh_token: text,
          },
          required: ["access_token", "token_type", "expires_in"],
        }),
        400: OAUTH_ERROR,
        503: OAUTH_ERROR,
      },
    },
  },
};
