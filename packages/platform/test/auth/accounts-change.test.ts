import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  appCode,
  inviteCode,
  newAccount,
  openAccountBrowser,
  PASSWORD,
  preconditionOf,
} from "../../../server/test/support/accounts.ts";
import { createSoftwarePasskey } from "../../../server/test/support/authenticator.ts";
import { type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";

// What proves an account changes in the person's own session, by a recovery link, and with the first start's link.
let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform?.close());

const NEW = "nine brown otters dive";
const accountOf = async (browser: { get(path: string): Promise<{ body: Record<string, unknown> }> }) =>
  (await browser.get("/session/account")).body["account"] as Record<string, unknown>;

async function recoveryLink(identity: string, token?: string) {
  const answer = await platform.call("POST", "/session/recovery-links", {
    token: token ?? (await platform.token()),
    body: { identity },
  });
  return { answer, secret: new URL(String(answer.body["url"] ?? platform.url)).hash.slice(1) };
}

test("the owner of the first start makes a passkey and a password with the first link", async () => {
  // The first start makes both organizations within a millisecond: the public one must not become the person's home.
  await platform.transact((tx) =>
    tx
      .updateTable("role_bindings")
      .set({ create_time: 1 })
      .where("parent", "=", platform.bootstrap.publicOrganization.uid)
      .execute(),
  );
  const browser = openAccountBrowser(platform);
  const { body } = await platform.call("POST", "/session/links", { token: await platform.token() });
  await browser.post("/session", { link: new URL(String(body["url"])).hash.slice(1) });
  assert.deepEqual((await browser.get("/session/account")).body, { account: null, mayMake: true });
  const { answer, passkey } = await browser.makePasskey({ name: "root" });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await browser.post("/session/account/password", { password: PASSWORD })).status, 200);
  const again = openAccountBrowser(platform);
  assert.equal((await again.signInWith(passkey)).body["identity"], platform.owner);
  assert.equal((await again.post("/session/password", { name: "root", password: PASSWORD })).status, 200);
  const { token } = (await again.post("/session/token")).body;
  const organization = await platform.call("GET", `/iam/v2/groups/${platform.organization}`, { token: String(token) });
  assert.equal(organization.status, 200);
  const providers = await rows(platform.ok("GET", "/iam/v2/identityProviders"), "identityProviders");
  assert.deepEqual(
    providers.map(({ uid }) => String(uid).split("/")[0]),
    [platform.organization],
  );

  // Now that there is an account, a link of whoever has a token makes no further way in.
  const stolen = openAccountBrowser(platform);
  const link = await platform.call("POST", "/session/links", { token: await platform.token() });
  await stolen.post("/session", { link: new URL(String(link.body["url"])).hash.slice(1) });
  assert.equal(preconditionOf((await stolen.makePasskey({})).answer), "SIGN_IN_AGAIN");
});

test("a person adds, names and removes passkeys, and keeps a way in", async () => {
  const { browser } = await newAccount(platform, "ada");
  const { answer, passkey } = await browser.makePasskey({ label: "phone" });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await browser.post("/session/account/password/remove")).status, 200);
  const [key] = (await accountOf(browser))["passkeys"] as { keyId: string; label: string; usedTime: unknown }[];
  assert.deepEqual([key?.label, key?.usedTime], ["phone", null]);
  const keyId = String(key?.keyId);
  await browser.post("/session/account/passkey/rename", { keyId, label: "old phone" });
  const last = await browser.post("/session/account/passkey/remove", { keyId });
  assert.equal(preconditionOf(last), "LAST_WAY_IN");
  assert.equal((await openAccountBrowser(platform).signInWith(passkey)).status, 200);
  const other = await browser.makePasskey({ label: "laptop" });
  assert.equal(other.answer.status, 200);
  assert.equal((await browser.post("/session/account/passkey/remove", { keyId })).status, 200);
  assert.equal((await openAccountBrowser(platform).signInWith(passkey)).status, 401);
  assert.equal((await openAccountBrowser(platform).signInWith(other.passkey)).status, 200);
});

test("a new password ends the old one and the other sessions", async () => {
  const { browser } = await newAccount(platform, "bob");
  const other = openAccountBrowser(platform);
  await other.post("/session/password", { name: "bob", password: PASSWORD });
  assert.equal((await browser.post("/session/account/password", { password: NEW })).status, 200);
  assert.deepEqual([(await browser.get("/session")).status, (await other.get("/session")).status], [200, 401]);
  assert.equal((await other.post("/session/password", { name: "bob", password: PASSWORD })).status, 401);
  assert.equal((await other.post("/session/password", { name: "bob", password: NEW })).status, 200);
});

test("what proves an account changes only shortly after it was proved", async () => {
  const { browser } = await newAccount(platform, "carol");
  platform.clock.offsetMs += 900_001;
  assert.equal(preconditionOf(await browser.post("/session/account/password", { password: NEW })), "SIGN_IN_AGAIN");
  assert.equal(preconditionOf(await browser.post("/session/account/app")), "SIGN_IN_AGAIN");
  platform.clock.offsetMs = 0;
  const byToken = openAccountBrowser(platform);
  await byToken.post("/session", undefined, { authorization: `Bearer ${await platform.token()}` });
  assert.equal(preconditionOf((await byToken.makePasskey({})).answer), "SIGN_IN_AGAIN");
});

test("an authenticator app and recovery codes go with the password", async () => {
  const { browser } = await newAccount(platform, "dora");
  const app = (await browser.post("/session/account/app")).body;
  assert.match(String(app["uri"]), /^otpauth:\/\/totp\/.*dora\?.*secret=/);
  const wrong = await browser.post("/session/account/app", { setUp: app["setUp"], code: "000000" });
  assert.equal(wrong.status, 400);
  const code = appCode(app["secret"], platform.clock.nowMs());
  const made = await browser.post("/session/account/app", { setUp: app["setUp"], code });
  const codes = made.body["recoveryCodes"] as string[];
  assert.equal(codes.length, 10);
  const other = openAccountBrowser(platform);
  const signIn = (more: object = {}) => other.post("/session/password", { name: "dora", password: PASSWORD, ...more });
  assert.deepEqual((await signIn()).body, { next: "code" });
  assert.equal((await signIn({ code: codes[0] })).status, 200);
  assert.equal((await signIn({ code: codes[0] })).status, 401);
  platform.clock.offsetMs += 30_000;
  assert.equal((await signIn({ code: appCode(app["secret"], platform.clock.nowMs()) })).status, 200);
  assert.equal((await browser.post("/session/account/app/remove")).status, 200);
  assert.equal((await signIn()).status, 200);
  platform.clock.offsetMs = 0;
});

test("where the organization asks for two factors, a password is made and used with an app", async () => {
  const org = await platform.ok("POST", "/iam/v2/groups", { name: "gamma" });
  const path = `/iam/v2/identityProviders/${org.uid}`;
  const provider = await platform.ok("POST", path, { name: "people", accounts: { secondFactor: true } });
  const browser = openAccountBrowser(platform);
  const by = { invite: await inviteCode(platform, org.uid), name: "eve", password: PASSWORD };
  const first = (await browser.post("/session/account/password", by)).body;
  assert.equal(first["next"], "setUp");
  const code = appCode(first["secret"], platform.clock.nowMs());
  const made = await browser.post("/session/account/password", { ...by, setUp: first["setUp"], code });
  assert.equal(made.status, 200, made.text);
  const signIn = (more: object = {}) =>
    browser.post("/session/password", { organization: "gamma", name: "eve", password: PASSWORD, ...more });
  assert.deepEqual((await signIn()).body, { next: "code" });
  assert.equal(preconditionOf(await browser.post("/session/account/app/remove")), "SECOND_FACTOR_NEEDED");
  // Whoever has a passkey has two factors.
  const withKey = openAccountBrowser(platform);
  const invite = await inviteCode(platform, org.uid);
  const { answer, passkey } = await withKey.makePasskey({ invite, name: "finn" });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await openAccountBrowser(platform).signInWith(passkey)).status, 200);

  // Who had a password before the organization asked for more sets up an app at the next sign-in.
  await platform.ok("PATCH", `/iam/v2/identityProviders/${provider.uid}`, { accounts: { secondFactor: false } });
  await newAccount(platform, "gwen", { group: org.uid });
  await platform.ok("PATCH", `/iam/v2/identityProviders/${provider.uid}`, { accounts: { secondFactor: true } });
  const gwen = openAccountBrowser(platform);
  const fields = { organization: "gamma", name: "gwen", password: PASSWORD };
  const asked = (await gwen.post("/session/password", fields)).body;
  assert.equal(asked["next"], "setUp");
  const shown = appCode(asked["secret"], platform.clock.nowMs());
  assert.equal((await gwen.post("/session/password", { ...fields, setUp: asked["setUp"], code: "123" })).status, 401);
  assert.equal((await gwen.post("/session/password", { ...fields, setUp: asked["setUp"], code: shown })).status, 200);
  assert.deepEqual((await gwen.post("/session/password", fields)).body, { next: "code" });
});

test("an owner's recovery link ends all that proved the account, and makes a new proof once", async () => {
  const { browser, identity } = await newAccount(platform, "hank");
  const { passkey } = await browser.makePasskey({});
  const { token: access } = (await browser.post("/session/token")).body;
  const personal = await platform.call("POST", "/iam/v2/personalTokens", {
    token: String(access),
    body: { name: "laptop" },
  });
  const own = (): ReturnType<Platform["call"]> =>
    platform.call("GET", "/iam/v2/personalTokens", { token: String(personal.body["token"]) });
  assert.equal((await own()).status, 200);
  const { answer, secret } = await recoveryLink(identity);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body["url"], `${platform.url}/sign-in/recover#${secret}`);
  const fresh = openAccountBrowser(platform);
  const offer = await fresh.post("/session/account/offer", { recovery: secret });
  assert.deepEqual([offer.body["name"], offer.body["group"]], ["hank", "acme"]);
  const made = await fresh.makePasskey({ recovery: secret }, createSoftwarePasskey());
  assert.equal(made.answer.status, 200, made.answer.text);
  assert.equal(made.answer.body["identity"], identity);
  assert.equal((await browser.get("/session")).status, 401);
  assert.equal((await own()).status, 401);
  assert.equal((await openAccountBrowser(platform).signInWith(passkey)).status, 401);
  const old = await openAccountBrowser(platform).post("/session/password", { name: "hank", password: PASSWORD });
  assert.equal(old.status, 401);
  assert.equal((await openAccountBrowser(platform).signInWith(made.passkey)).status, 200);
  assert.equal((await fresh.post("/session/account/offer", { recovery: secret })).status, 404);
});
