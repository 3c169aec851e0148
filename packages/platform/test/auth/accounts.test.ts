import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  inviteCode,
  newAccount,
  openAccountBrowser,
  PASSWORD,
  preconditionOf,
} from "../../../server/test/support/accounts.ts";
import { blamed, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";

// Accounts that the installation keeps: made with an invite, by a password or a passkey.
let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform?.close());

const organizationOf = async (token: string) =>
  (await platform.call("GET", `/iam/v2/groups/${platform.organization}`, { token })).status;

test("an invite's link names the group and the role, and makes an account with a password", async () => {
  const team = await platform.group(platform.organization, { name: "team" });
  const made = await platform.ok("POST", `/iam/v2/groupInvites/${team.uid}`, {
    roleUid: await platform.role("editor"),
    ttl: "3600s",
    singleUse: true,
  });
  const code = String(made["code"]);
  assert.equal(made["url"], `${platform.bootstrap.baseUrl}/invite#${code}`);
  assert.equal((await platform.ok("GET", `/iam/v2/groupInvites/${made.uid}`))["url"], "");
  const ada = openAccountBrowser(platform);
  const offer = await ada.post("/session/account/offer", { invite: code });
  assert.equal(offer.status, 200, offer.text);
  assert.deepEqual([offer.body["group"], offer.body["role"], offer.body["mayMake"]], ["acme/team", "editor", true]);
  const begun = await ada.post("/session/account/password", {
    invite: code,
    name: "Ada@Example.com",
    password: PASSWORD,
  });
  assert.equal(begun.status, 200, begun.text);
  assert.match(
    String(begun.headers["set-cookie"]),
    /moorage_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax/,
  );
  const identity = String(begun.body["identity"]);
  const token = await ada.token();
  assert.equal((await platform.call("GET", `/iam/v2/groups/${team.uid}`, { token })).status, 200);
  assert.equal(await organizationOf(token), 404);

  const person = await platform.ok("GET", `/iam/v2/identities/${identity}`);
  const provider = (await rows(platform.ok("GET", "/iam/v2/identityProviders"), "identityProviders"))[0];
  assert.deepEqual(
    [person.name, person["emailUnverified"], person["identityProvider"]],
    ["ada", "ada@example.com", provider?.uid],
  );
  assert.deepEqual(
    [provider?.name, provider?.["accounts"], provider?.["redirectUri"]],
    ["accounts", { secondFactor: false }, ""],
  );
  assert.ok(provider?.uid.startsWith(`${platform.organization}/`));

  const again = openAccountBrowser(platform);
  const signedIn = await again.post("/session/password", {
    organization: "acme",
    name: " ADA@example.com",
    password: PASSWORD,
  });
  assert.equal(signedIn.status, 200, signedIn.text);
  assert.equal(signedIn.body["identity"], identity);
  assert.equal((await again.post("/session/password", { name: "ada@example.com", password: PASSWORD })).status, 200);
  const wrong = await again.post("/session/password", { name: "ada@example.com", password: `${PASSWORD}!` });
  assert.equal(wrong.status, 401);
});

test("an invite makes an account with a passkey, which signs in without a name", async () => {
  const invite = await inviteCode(platform, platform.organization);
  const grace = openAccountBrowser(platform);
  const { answer, passkey } = await grace.makePasskey({ invite, name: "grace", label: "laptop" });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(await organizationOf(await grace.token()), 200);
  const elsewhere = openAccountBrowser(platform);
  const signedIn = await elsewhere.signInWith(passkey);
  assert.equal(signedIn.status, 200, signedIn.text);
  assert.equal(signedIn.body["identity"], answer.body["identity"]);
  assert.equal(await organizationOf(await elsewhere.token()), 200);
  assert.equal((await elsewhere.post("/session/password", { name: "grace", password: "" })).status, 401);
});

test("a password is long enough, is not a common one, and is not made of names", async () => {
  const invite = await inviteCode(platform, platform.organization);
  const browser = openAccountBrowser(platform);
  for (const password of ["short", "Password1234", "adalovelace1", "acmeacmeacme", "localhost1234", "a".repeat(257)]) {
    const answer = await browser.post("/session/account/password", { invite, name: "adalovelace", password });
    assert.deepEqual([answer.status, blamed(answer)], [400, ["password"]], password);
  }
  const named = await browser.post("/session/account/password", { invite, name: "<b>", password: PASSWORD });
  assert.deepEqual([named.status, blamed(named)], [400, ["name"]]);
  const made = await browser.post("/session/account/password", {
    invite,
    name: "adalovelace",
    password: `パスワード長い文 ${PASSWORD}`,
  });
  assert.equal(made.status, 200, made.text);
});

test("the person of an account is listed, signed out and removed like everybody", async () => {
  const { browser, identity } = await newAccount(platform, "joan");
  const listed = await rows(platform.ok("GET", "/iam/v2/identities?uidp.in_root=true"), "identities");
  assert.ok(listed.some(({ uid }) => uid === identity));
  const token = await browser.token();
  const sessions = await rows(platform.ok("GET", `/iam/v2/sessions?identity=${identity}`), "sessions");
  assert.equal(sessions.length, 1);
  await platform.ok("DELETE", `/iam/v2/identities/${identity}`);
  assert.equal((await browser.get("/session")).status, 401);
  assert.equal(await organizationOf(token), 401);
  assert.equal((await browser.post("/session/password", { name: "joan", password: PASSWORD })).status, 401);
  assert.equal((await newAccount(platform, "joan")).identity === identity, false);
});

test("an organization has accounts once, and they stay accounts", async () => {
  await newAccount(platform, "kim");
  const [provider] = await rows(platform.ok("GET", "/iam/v2/identityProviders"), "identityProviders");
  const token = await platform.token();
  const second = await platform.call("POST", `/iam/v2/identityProviders/${platform.organization}`, {
    token,
    body: { name: "more", accounts: {} },
  });
  assert.equal(second.status, 400);
  assert.equal(preconditionOf(second), "RESOURCE_IN_USE");
  const team = await platform.group(platform.organization);
  const below = await platform.call("POST", `/iam/v2/identityProviders/${team.uid}`, {
    token,
    body: { name: "more", accounts: {} },
  });
  assert.deepEqual([below.status, blamed(below)], [400, ["accounts"]]);
  const changed = await platform.call("PATCH", `/iam/v2/identityProviders/${provider?.uid}`, {
    token,
    body: { oidc: { issuer: "https://evil.example", clientId: "x" } },
  });
  assert.equal(changed.status, 400, changed.text);
});

test("with an OpenID provider and no accounts, none are made; with some, they go on", async () => {
  const org = await platform.ok("POST", "/iam/v2/groups", { name: "beta" });
  await platform.ok("POST", `/iam/v2/identityProviders/${org.uid}`, {
    name: "staff",
    oidc: { issuer: "https://login.example.com", clientId: "moorage" },
  });
  const browser = openAccountBrowser(platform);
  const invite = await inviteCode(platform, org.uid);
  assert.equal((await browser.post("/session/account/offer", { invite })).body["mayMake"], false);
  const made = await browser.post("/session/account/password", { invite, name: "lee", password: PASSWORD });
  assert.equal(preconditionOf(made), "NO_ACCOUNTS_HERE");
  await newAccount(platform, "lee");
});
