import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { openBrowser } from "../../../server/test/support/browser.ts";
import {
  addProvider,
  openPeopleProvider,
  type PeopleProvider,
  tokenCall,
} from "../../../server/test/support/people-provider.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// An invite for an e-mail address, whose code somebody else has read. Mallory owns another organization or a subgroup,
// and has a provider of her own say that the address is hers, and verified.
const LANDING = "http://127.0.0.1:49152/callback";
const ADDRESS = "ann@example.com";
let platform: Platform;
let staff: PeopleProvider;
let evil: PeopleProvider;
let trusted: PeopleProvider;
let other: string;
let subgroup: string;

before(async () => {
  [staff, evil, trusted] = [await openPeopleProvider(), await openPeopleProvider(), await openPeopleProvider()];
  for (const people of [staff, evil, trusted]) people.claims = { email: ADDRESS, email_verified: true };
  platform = await startPlatform({
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    MOORAGE_EMAIL_ISSUERS: `example.com=${trusted.url}, else.example=${evil.url}`,
  });
  other = (await platform.ok("POST", "/iam/v2/groups", { name: "beta" })).uid;
  subgroup = (await platform.group(platform.organization)).uid;
});
after(async () => {
  for (const people of [staff, evil, trusted]) await people?.close();
  await platform?.close();
});

/** An access token of a person who signs in through the provider. */
async function signIn(provider: string): Promise<string> {
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    identity_provider: provider,
  });
  const { location } = await openBrowser().signIn(`${platform.url}/oauth/authorize?${query}`, "somebody", LANDING);
  const { body } = await tokenCall(platform, {
    grant_type: "authorization_code",
    code: new URL(location).searchParams.get("code") ?? "",
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    code_verifier: verifier,
  });
  return String(body["access_token"]);
}

async function codeFor(group: string, email = ADDRESS): Promise<string> {
  const roleUid = await platform.role("owner");
  const { code } = await platform.ok("POST", `/iam/v2/groupInvites/${group}`, { roleUid, email, ttl: "3600s" });
  return String(code);
}

async function accept(code: string, token: string): Promise<[number, string | undefined]> {
  const { status, body } = await platform.call("POST", "/iam/v2/groupInvites:accept", { token, body: { code } });
  return [status, body.details?.find(({ metadata }) => metadata !== undefined)?.metadata?.["reason"]];
}

const REFUSED = [403, "INVITE_FOR_ANOTHER_EMAIL"];

test("the provider of another organization does not vouch for the invited address", async () => {
  const mallory = await signIn(await addProvider(platform, evil, {}, other));
  assert.deepEqual(await accept(await codeFor(platform.organization), mallory), REFUSED);
  assert.deepEqual(await accept(await codeFor(subgroup), mallory), REFUSED);
  assert.equal((await accept(await codeFor(other), mallory))[0], 200, "but it does in its own");
});

test("the provider of a subgroup vouches for its own group alone, not for those above or beside", async () => {
  const mallory = await signIn(await addProvider(platform, evil, {}, subgroup));
  const { uid: beside } = await platform.group(platform.organization);
  for (const group of [platform.organization, beside])
    assert.deepEqual(await accept(await codeFor(group), mallory), REFUSED);
  assert.equal((await accept(await codeFor(subgroup), mallory))[0], 200);
});

test("the provider of the organization vouches for all its groups", async () => {
  const ann = await signIn(await addProvider(platform, staff));
  for (const group of [platform.organization, subgroup])
    assert.equal((await accept(await codeFor(group), ann))[0], 200);
  assert.deepEqual(await accept(await codeFor(other), ann), REFUSED);
});

test("an issuer that the operator trusts for the address's domain vouches everywhere, and for no other domain", async () => {
  const ann = await signIn(await addProvider(platform, trusted, {}, other));
  assert.equal((await accept(await codeFor(platform.organization), ann))[0], 200);
  trusted.claims = { email: "ann@else.example", email_verified: true };
  const elsewhere = await signIn(await addProvider(platform, trusted, {}, other));
  assert.deepEqual(await accept(await codeFor(platform.organization, "ann@else.example"), elsewhere), REFUSED);
});
