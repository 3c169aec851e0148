// How commands use a server's OAuth endpoints.
import { send, Unreachable } from "./http/http.ts";
import { EXIT } from "./command/exit-codes.ts";
import { Failure } from "./command/failure.ts";
import { plain } from "./printable.ts";

const TIMEOUT_MS = 15_000;

/** Tokens, or why there are none, in the terms of OAuth. */
/** What a sign-in, or a refresh, gives. */
export interface Tokens {
  accessToken: string;
  /** When the access token expires, in milliseconds since 1970. */
  expiresAtMs: number;
  /** Valid for one use; the response has the next one. */
  refreshToken: string;
}

export type TokenAnswer = { tokens: Tokens } | { error: string; description: string };

/** The URLs of a server's endpoints. */
export interface Endpoints {
  issuer: string;
  authorize: string;
  token: string;
  device: string;
  revoke: string;
}

/** Reads the server's metadata document. Throws an Error when there is no such server, or its issuer is another URL. */
export async function endpointsOf(url: string): Promise<Endpoints> {
  const document = await asked(`${url}/.well-known/oauth-authorization-server`, {});
  const text = (name: string): string => {
    const value = document[name];
    if (typeof value !== "string") throw new Error(`${url} is no Moorage server: its document has no ${name}`);
    return value;
  };
  if (text("issuer") !== url) throw new Error(`${url} says that it is ${text("issuer")}: use that as --url`);
  return {
    issuer: url,
    authorize: text("authorization_endpoint"),
    token: text("token_endpoint"),
    device: text("device_authorization_endpoint"),
    revoke: text("revocation_endpoint"),
  };
}

/** Sends a request to the token endpoint. */
export async function tokenRequest(endpoint: string, form: Record<string, string>): Promise<TokenAnswer> {
  const {
    access_token: accessToken,
    refresh_token: refreshToken,
    expires_in: expiresInS,
    error,
    error_description: description,
  } = await formRequest(endpoint, form);
  if (typeof accessToken === "string" && typeof refreshToken === "string")
    return { tokens: { accessToken, refreshToken, expiresAtMs: Date.now() + Number(expiresInS) * 1000 } };
  return {
    error: typeof error === "string" ? error : "server_error",
    description: typeof description === "string" ? description : "it does not say why",
  };
}

/**
 * Trades an access token for one with another audience, which ends no later. Throws an Error that says why there is
 * none. Source: RFC 8693 §2.1.
 */
export async function tradeToken(endpoint: string, token: string, audience: string): Promise<string> {
  const answer = await formRequest(endpoint, {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: token,
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    audience,
  });
  const { access_token: traded, error_description: description } = answer;
  if (typeof traded === "string") return traded;
  throw new Error(
    `${new URL(endpoint).host} gives no token for ${audience}: ${plain(typeof description === "string" ? description : "it does not say why")}`,
  );
}

/** Posts a form and returns the JSON of the response, whatever the status. */
export function formRequest(endpoint: string, form: Record<string, string>): Promise<Record<string, unknown>> {
  return asked(endpoint, { method: "POST", body: new URLSearchParams(form) });
}

/** Gets a document of the server as JSON, whatever the status. */
export function jsonOf(url: string): Promise<Record<string, unknown>> {
  return asked(url, {});
}

async function asked(url: string, init: RequestInit): Promise<Record<string, unknown>> {
  const { host } = new URL(url);
  try {
    const response = await send(url, { ...init, redirect: "error", timeoutMs: TIMEOUT_MS });
    return (await response.json()) as Record<string, unknown>;
  } catch (cause) {
    if (cause instanceof Unreachable) throw cause;
    throw new Failure(`${host} does not answer as a Moorage server does`, { exit: EXIT.error, cause });
  }
}
