import {
  type Exchanger,
  isPersonalToken,
  isRefreshToken,
  type RefreshTokens,
  rejectionMessage,
  type Tokens,
} from "@moorage/platform/auth";
import type { Caller, CallData } from "@moorage/kernel/core/call";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { isUid } from "@moorage/kernel/lib/uid";
import { RegistryError } from "./errors.ts";

/** What checks credentials. */
export interface CredentialDeps {
  tokens: Pick<Tokens, "mint">;
  exchanger: Pick<Exchanger, "registryCaller">;
  refreshTokens: Pick<RefreshTokens, "read">;
}

/** A user name, possibly an identity's uid, and a token of some kind as the password. */
export interface Credential {
  user: string;
  secret: string;
}

/** What a credential is used for. */
export interface CredentialUse {
  callData: CallData;
  /** The names of the organizations whose repositories are wanted. */
  organizations: string[];
  /** Makes the WWW-Authenticate header of a rejection, which most calls do without. */
  authenticate: () => string;
}

const MAX_LENGTH = 20_000;

/** The names of the organizations of repositories with these names. */
export function organizationsOf(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.split("/", 1)[0] ?? ""))];
}

export function isBasic(authorization: string | undefined): authorization is string {
  return authorization !== undefined && /^basic\b/i.test(authorization);
}

/**
 * The credential of an Authorization header: Basic, or a platform token as Bearer. Undefined without the header, and
 * for an empty user name with an empty password, which clients send for nobody. "malformed" for anything else.
 */
export function headerCredential(authorization: string | undefined): Credential | undefined | "malformed" {
  if (authorization === undefined) return undefined;
  const [, scheme = "", value = ""] =
    /^(basic|bearer) +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization.slice(0, MAX_LENGTH)) ?? [];
  if (scheme.toLowerCase() === "bearer") return { user: "", secret: value };
  const text = Buffer.from(value, "base64").toString();
  const cut = text.indexOf(":");
  if (scheme === "" || cut < 0) return "malformed";
  return text === ":" ? undefined : { user: text.slice(0, cut), secret: text.slice(cut + 1) };
}

/**
 * The caller of the credential: a personal token, a platform token, a refresh token (which stays valid, since docker
 * stores what it logged in with), or the token of an external issuer, with the identity to assume as the user name.
 * Throws UNAUTHORIZED for all others, registry tokens included; the error gives the reason for an external token and
 * for one of ours that has expired, alone.
 */
export async function callerOf(
  { exchanger, refreshTokens }: CredentialDeps,
  { user, secret }: Credential,
  { authenticate, callData, organizations }: CredentialUse,
): Promise<Caller> {
  try {
    if (isRefreshToken(secret)) return await refreshTokens.read(secret, callData);
    // A personal token is good with any user name.
    const identity = isUid(user) && !isPersonalToken(secret) && { identity: user };
    const request = { bearer: secret, ...identity, organizations };
    return await exchanger.registryCaller(request, callData);
  } catch (error) {
    const isRejected =
      error instanceof MoorageError && (error.code === Code.Unauthenticated || error.code === Code.PermissionDenied);
    throw isRejected ? badCredential(authenticate(), error) : error;
  }
}

/**
 * The error for rejected credentials. It gives the reason for the token of an external issuer, as far as the token
 * exchange does, and none for other credentials.
 */
export function badCredential(authenticate: string, error?: MoorageError): RegistryError {
  const words = error && rejectionMessage(error);
  const metadata = words === undefined ? undefined : error?.details.metadata;
  return new RegistryError("UNAUTHORIZED", `${NOT_ACCEPTED}${words === undefined ? "" : `: ${words}`}`, {
    ...(metadata && { detail: metadata, details: { metadata } }),
    headers: { "www-authenticate": authenticate },
  });
}

const NOT_ACCEPTED = "Unauthenticated: the credentials were not accepted";

/** Whether an error says that the credentials are none of ours, nor of an issuer that is known. */
export function isUnknownCredential(error: unknown): boolean {
  return error instanceof RegistryError && error.ociCode === "UNAUTHORIZED" && error.message === NOT_ACCEPTED;
}
