import { type AccountAssociation, CheckAccountAssociationRequest_AccountProviderType as Provider } from "@moorage/api";
import { FetchError } from "../lib/guarded-fetch.ts";
import { isObject, parseJson } from "../lib/json.ts";
import { Code, MoorageError } from "../errors.ts";
import type { AccountProviders } from "../core/service.ts";

/** Why an account is not ready: one of the reasons that CheckAccountAssociationResponse names, and words for people. */
export interface CheckFailure {
  reason: string;
  message: string;
}

/** One request to a provider's token endpoint. */
interface Ask {
  /** The audience of our token. */
  audience: string;
  url: string;
  form(token: string): Record<string, string>;
  /** Whether the body of a good answer holds what was asked for. */
  isGood(body: string): boolean;
  /** What the body of a refusal says. */
  rejectionOf(body: string): string;
}

const ROLE = "moorage-check";
const POOL = "locations/global/workloadIdentityPools/moorage/providers/moorage";
const SESSION_SECONDS = 900;
const MAX_DEPTH = 8;
const MAX_SAID = 300;
// Each check is up to 16 requests.
const MAX_UNDER_WAY = 16;
let underWay = 0;

/**
 * Asks the provider whether it takes our token for the account. Undefined: it does. Throws UNAVAILABLE only when too
 * many checks are under way.
 */
export async function checkAccount(
  providers: AccountProviders,
  association: AccountAssociation,
  provider: Provider,
  nowMs: number,
): Promise<CheckFailure | undefined> {
  const asks = asksOf(providers, association, provider);
  if (!Array.isArray(asks)) return asks;
  if (underWay >= MAX_UNDER_WAY)
    throw new MoorageError(Code.Unavailable, "Unavailable: too many accounts are being checked", {
      retryAfterMs: 1_000,
    });
  underWay += 1;
  try {
    const failures = await Promise.all(asks.map((ask) => answerOf(providers, association.uid, ask, nowMs)));
    return failures.find((failure) => failure !== undefined);
  } finally {
    underWay -= 1;
  }
}

/** What is asked of the provider, or why there is nothing to ask. */
function asksOf(
  providers: AccountProviders,
  { amazon, google, azure }: AccountAssociation,
  provider: Provider,
): Ask[] | CheckFailure {
  if (provider === Provider.AMAZON && amazon !== undefined) return [askAmazon(providers, amazon.account)];
  if (provider === Provider.GOOGLE && google !== undefined) {
    return google.projectNumber === ""
      ? { reason: "INCOMPLETE", message: "the project's number is needed" }
      : [askGoogle(providers, google.projectNumber)];
  }
  if (provider === Provider.AZURE && azure !== undefined) {
    const clients = [...new Set(Object.values(azure.clientIds))];
    return clients.length === 0
      ? { reason: "INCOMPLETE", message: "a client's id is needed" }
      : clients.map((client) => askAzure(providers, azure.tenantId, client));
  }
  return { reason: "NOT_CONFIGURED", message: "the association names no account at this provider" };
}

// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
function askAmazon({ awsStsUrl }: AccountProviders, account: string): Ask {
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
function askGoogle({ googleStsUrl }: AccountProviders, projectNumber: string): Ask {
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
function askAzure({ azureLoginUrl }: AccountProviders, tenant: string, client: string): Ask {
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

async function answerOf(
  { fetch, idToken }: AccountProviders,
  group: string,
  ask: Ask,
  nowMs: number,
): Promise<CheckFailure | undefined> {
  const token = await idToken(group, ask.audience, nowMs);
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json, text/xml" };
  try {
    const { status, body } = await fetch(ask.url, {
      method: "POST",
      headers,
      body: new URLSearchParams(ask.form(token)).toString(),
    });
    // Whoever asks is not to get our token by way of what the provider says about it.
    const text = body.toString("utf8").replaceAll(token, "…");
    if (status >= 500 || status === 429)
      return { reason: "PROVIDER_ERROR", message: `the provider answered ${status}` };
    if (status !== 200)
      return { reason: "REFUSED", message: `the provider answered ${status}${said(ask.rejectionOf(text))}` };
    return ask.isGood(text)
      ? undefined
      : { reason: "UNEXPECTED_ANSWER", message: "the provider answered with something else than credentials" };
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    if (error.kind === "failed") return { reason: "UNREACHABLE", message: "the provider could not be reached in time" };
    return { reason: "NOT_ALLOWED", message: `the provider was not asked, or its answer not taken: ${error.message}` };
  }
}

/** What the provider said, on one line and not too long. */
function said(text: string): string {
  const line = text.replace(/[^\x21-\x7e]+/g, " ").trim();
  return line === "" ? "" : `: ${line.slice(0, MAX_SAID)}`;
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
