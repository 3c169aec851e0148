import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import type { Issuer } from "./issuer.ts";
import type { Answer, Json, Platform } from "./platform.ts";

/** A person who signed in, with an access token. */
export interface SignedInPerson {
  uid: string;
  token: string;
}

const HOUR_S = 3_600;

/** A provider of the group whose people get the built-in role there. */
export async function peopleOf(
  platform: Platform,
  issuer: Issuer,
  { group, role, groupsClaim = "" }: { group: string; role?: string; groupsClaim?: string },
): Promise<string> {
  const { uid } = await platform.ok("POST", `/iam/v2/identityProviders/${group}`, {
    name: `login ${randomUUID()}`,
    oidc: { issuer: issuer.url, clientId: "moorage", groupsClaim },
    ...(role !== undefined && { defaultRole: await platform.role(role) }),
  });
  return uid;
}

/** Signs the person in through the provider, by a token of the provider's. */
export async function signInAs(
  platform: Platform,
  issuer: Issuer,
  provider: string,
  sub: string,
  claims: object = {},
): Promise<SignedInPerson> {
  const now = Math.floor(platform.clock.nowMs() / 1000);
  const bearer = await issuer.sign({
    iss: issuer.url,
    aud: "moorage",
    sub,
    iat: now,
    exp: now + HOUR_S,
    ...claims,
  });
  const answer = await platform.call("GET", `/sts/exchange?identity_provider=${provider}`, { token: bearer });
  assert.equal(answer.status, 200, answer.text);
  const token = String(answer.body["token"]);
  return { uid: String(decodeJwt(token).sub), token };
}

/** Asks for a personal token with the access token of a person. */
export function askForToken(platform: Platform, token: string, fields: object = {}): Promise<Answer> {
  return platform.call("POST", "/iam/v2/personalTokens", { token, body: { name: "laptop", ...fields } });
}

/** Makes a personal token. */
export async function makeToken(
  platform: Platform,
  token: string,
  fields: object = {},
): Promise<Json & { token: string }> {
  const answer = await askForToken(platform, token, fields);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Json & { token: string };
}

/** What docker does with a password: the answer of the token endpoint to a log-in with any user name. */
export function logIn(platform: Platform, password: string, scope = "", user = "anything"): Promise<Answer> {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const { host } = new URL(platform.url);
  return platform.call("GET", `/token?service=${host}${scope === "" ? "" : `&scope=${scope}`}`, {
    headers: { authorization },
  });
}

/** The actions that a registry token grants on its first repository; none where it grants nothing. */
export function grantedActions({ body }: Answer): string[] {
  const { access } = decodeJwt(String(body["token"])) as unknown as { access: { actions: string[] }[] };
  return access[0]?.actions ?? [];
}
