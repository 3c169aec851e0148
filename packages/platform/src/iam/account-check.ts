import {
  type AccountAssociation,
  CheckAccountAssociationRequest_AccountProviderType as Provider,
} from "@moorage/api/messages";
import { FetchError } from "@moorage/kernel/lib/guarded-fetch";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { AccountProviders } from "@moorage/kernel/core/service";

/** Why an account is not ready: a reason of CheckAccountAssociationResponse, and a message for people. */
export interface CheckFailure {
  reason: string;
  message: string;
}

/** A request to a provider's token endpoint. */
interface TokenRequest {
  /** The audience of the token that this server sends. */
  audience: string;
  url: string;
  form(token: string): Record<string, string>;
  /** Whether the body of a successful response holds credentials. */
  isGood(body: string): boolean;
  /** The error that the body of a failed response describes. */
  rejectionOf(body: string): string;
}

const ROLE = "moorage-check";
const POOL = "locations/global/workloadIdentityPools/moorage/providers/moorage";
const SESSION_SECONDS = 900;
const MAX_DEPTH = 8;
const MAX_QUOTED_CHARS = 300;
// A check makes up to 16 requests.
const MAX_UNDER_WAY = 16;
let underWay = 0;

/**
 * Sends a token of this server to the provider for the account. Undefined when the provider accepts it. Throws
 * UNAVAILABLE only when too many checks are under way.
 */
export async function checkAccount(
  providers: AccountProviders,
  association: AccountAssociation,
  provider: Provider,
  nowMs: number,
): Promise<CheckFailure | undefined> {
  const requests = requestsOf(providers, association, provider);
  if (!Array.isArray(requests)) return requests;
  if (underWay >= MAX_UNDER_WAY)
    throw new MoorageError(Code.Unavailable, "Unavailable: too many accounts are being checked", {
      retryAfterMs: 1_000,
    });
  underWay += 1;
  try {
    const failures = await Promise.all(
      requests.map((request) => failureOf(providers, association.uid, request, nowMs)),
    );
    return failures.find((failure) => failure !== undefined);
  } finally {
    underWay -= 1;
  }
}

/** The requests of a check, or why none can be made. */
function requestsOf(
  providers: AccountProviders,
  { amazon, google, azure }: AccountAssociation,
  provider: Provider,
): TokenRequest[] | CheckFailure {
  if (provider === Provider.AMAZON && amazon !== undefined) return [amazonRequest(providers, amazon.account)];
  if (provider === Provider.GOOGLE && google !== undefined) {
    return google.projectNumber === ""
      ? { reason: "INCOMPLETE", message: "the project's number is needed" }
      : [googleRequest(providers, google.projectNumber)];
  }
  if (provider === Provider.AZURE && azure !== undefined) {
    const clients = [...new Set(Object.values(azure.clientIds))];
    return clients.length === 0
      ? { reason: "INCOMPLETE", message: "a client's id is needed" }
      : clients.map((client) => azureRequest(providers, azure.tenantId, client));
  }
  return { reason: "NOT_CONFIGURED", message: "the association names no account at this provider" };
}

// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
function amazonRequest({ awsStsUrl }: AccountProviders, account: string): TokenRequest {
  return {
    audience: "sts.amazonaws.com",
    url: `${awsStsUrl}/`,
    form: (token) => ({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: `arn:aws:iam::${account}:role/${ROLE}`,
      RoleSessionName: "moorage",
      DurationSeconds: String(SESSION_SECONDS),
      WebIdentityToken: token,
    }),
    isGood: (body) => /<AccessKeyId>[^<\s]+<\/AccessKeyId>/.test(body) && body.includes("<SessionToken>"),
    rejectionOf: (body) =>
      [/<Code>([^<]*)<\/Code>/.exec(body)?.[1], /<Message>([^<]*)<\/Message>/.exec(body)?.[1]]
        .filter(Boolean)
        .join(": "),
  };
}

// https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token
function googleRequest({ googleStsUrl }: AccountProviders, projectNumber: string): TokenRequest {
  const resource = `//iam.googleapis.com/projects/${projectNumber}/${POOL}`;
  return {
    audience: `https:${resource}`,
    url: `${googleStsUrl}/v1/token`,
    form: (token) => ({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      audience: resource,
      scope: "https://www.googleapis.com/auth/cloud-platform",
      requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      subject_token: token,
    }),
    isGood: hasAccessToken,
    rejectionOf: oauthRejection,
  };
}

// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
function azureRequest({ azureLoginUrl }: AccountProviders, tenant: string, client: string): TokenRequest {
  return {
    audience: "api://AzureADTokenExchange",
    url: `${azureLoginUrl}/${tenant}/oauth2/v2.0/token`,
    form: (token) => ({
      grant_type: "client_credentials",
      client_id: client,
      scope: "https://management.azure.com/.default",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: token,
    }),
    isGood: hasAccessToken,
    rejectionOf: oauthRejection,
  };
}

async function failureOf(
  { fetch, idToken }: AccountProviders,
  group: string,
  request: TokenRequest,
  nowMs: number,
): Promise<CheckFailure | undefined> {
  const token = await idToken(group, request.audience, nowMs);
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json, text/xml" };
  try {
    const { status, body } = await fetch(request.url, {
      method: "POST",
      headers,
      body: new URLSearchParams(request.form(token)).toString(),
    });
    // The provider's message may quote the token, which the caller must not get.
    const text = body.toString("utf8").replaceAll(token, "…");
    if (status >= 500 || status === 429)
      return { reason: "PROVIDER_ERROR", message: `the provider answered ${status}` };
    if (status !== 200)
      return { reason: "REFUSED", message: `the provider answered ${status}${quoted(request.rejectionOf(text))}` };
    return request.isGood(text)
      ? undefined
      : { reason: "UNEXPECTED_ANSWER", message: "the provider answered with something else than credentials" };
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    if (error.kind === "failed") return { reason: "UNREACHABLE", message: "the provider could not be reached in time" };
    return {
      reason: "NOT_ALLOWED",
      message: `the request was not sent, or its response not accepted: ${error.message}`,
    };
  }
}

/** The provider's message on one line, truncated, to append to ours. */
function quoted(text: string): string {
  const line = text.replace(/[^\x21-\x7e]+/g, " ").trim();
  return line === "" ? "" : `: ${line.slice(0, MAX_QUOTED_CHARS)}`;
}

function hasAccessToken(body: string): boolean {
  const token = parsed(body)["access_token"];
  return typeof token === "string" && token !== "";
}

function oauthRejection(body: string): string {
  const { error, error_description: description } = parsed(body);
  return [error, description].filter((part) => typeof part === "string").join(": ");
}

function parsed(body: string): Record<string, unknown> {
  try {
    const value = parseJson(body, MAX_DEPTH);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
