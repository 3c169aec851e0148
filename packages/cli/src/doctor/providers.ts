import type { JsonObject, RestClient } from "../api/rest.ts";
import { type Check, failed, notChecked, ok } from "./check.ts";
import { firstOf, MAX_ITEMS } from "./pages.ts";
import { get, objectOf } from "./request.ts";

const NAME = "providers";
const FIX = "nobody can sign in by it: correct its issuer, or let this machine reach it";
const ENDPOINTS = ["authorization_endpoint", "token_endpoint", "jwks_uri"];

/** Whether identity providers answer as sign-in needs it. `said`: called with their clocks. */
export async function examineProviders(
  rest: RestClient,
  said: (whose: string, offsetMs: number) => void,
): Promise<Check[]> {
  const { items, isCut } = await firstOf(rest, "/iam/v2/identityProviders", "identityProviders");
  const issuers = new Set(items.map(issuerOf).filter((issuer) => issuer !== undefined));
  const checks = await Promise.all([...issuers].map((issuer) => examineIssuer(issuer, said)));
  const left = isCut ? [notChecked(NAME, `only the first ${MAX_ITEMS} providers were looked at`)] : [];
  const none = ok(NAME, "the groups that you may list have none to ask");
  return [...(checks.length > 0 ? checks.flat() : [none]), ...left];
}

function issuerOf(provider: JsonObject): string | undefined {
  const issuer = (provider["oidc"] as JsonObject | undefined)?.["issuer"];
  return typeof issuer === "string" ? issuer : undefined;
}

async function examineIssuer(issuer: string, said: (whose: string, offsetMs: number) => void): Promise<Check> {
  const answer = await get(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`).catch(
    (error: Error) => error,
  );
  if (answer instanceof Error) return failed(NAME, `${issuer}: ${answer.message}`, FIX);
  if (answer.offsetMs !== undefined) said(issuer, answer.offsetMs);
  const document = objectOf(answer.text);
  if (answer.status !== 200 || document === undefined)
    return failed(NAME, `${issuer}: no discovery document, but status ${answer.status}`, FIX);
  if (document["issuer"] !== issuer)
    return failed(
      NAME,
      `${issuer}: the discovery document there is of the issuer ${JSON.stringify(document["issuer"])?.slice(0, 200)}`,
      FIX,
    );
  const missing = ENDPOINTS.filter((name) => typeof document[name] !== "string");
  if (missing.length > 0) return failed(NAME, `${issuer}: the discovery document has no ${missing.join(", ")}`, FIX);
  const keys = await get(String(document["jwks_uri"])).catch((error: Error) => error);
  if (keys instanceof Error) return failed(NAME, `${issuer}: its keys cannot be fetched: ${keys.message}`, FIX);
  const list = objectOf(keys.text)?.["keys"];
  return Array.isArray(list) && list.length > 0
    ? ok(NAME, `${issuer} answers as itself, and has ${list.length} keys`)
    : failed(NAME, `${issuer}: there are no keys at ${String(document["jwks_uri"])} (${keys.status})`, FIX);
}
