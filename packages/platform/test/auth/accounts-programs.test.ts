import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import {
  type AccountBrowser,
  newAccount,
  openAccountBrowser,
  PASSWORD,
  preconditionOf,
} from "../../../server/test/support/accounts.ts";
import type { Authenticator } from "../../../server/test/support/authenticator.ts";
import { tokenCall } from "../../../server/test/support/people-provider.ts";
import { type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";

// Programs and devices are signed in with accounts of the installation as with those of an OpenID provider.
const LANDING = "http://127.0.0.1:49152/callback";
let platform: Platform;
let identity: string;
let passkey: Authenticator;
let provider: string;
before(async () => {
  platform = await startPlatform();
  const ada = await newAccount(platform, "ada");
  ({ identity } = ada);
  ({ passkey } = await ada.browser.makePasskey({}));
  const found = await rows(platform.ok("GET", "/iam/v2/identityProviders"), "identityProviders");
  provider = found[0]?.uid ?? "";
});
after(() => platform?.close());

/** Begins a sign-in of the command in the browser; answers its state and the verifier. */
async function begin(browser: AccountBrowser): Promise<{ state: string; verifier: string }> {
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    state: "of-the-command",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    identity_provider: provider,
  });
  const answer = await browser.get(`/oauth/authorize?${query}`);
  assert.equal(answer.status, 302, answer.text);
  const [path, state = ""] = String(answer.headers.location).split("#");
  assert.equal(path, `/sign-in/account?provider=${provider}`);
  return { state, verifier };
}

async function redeem(redirect: unknown, verifier: string) {
  const url = new URL(String(redirect));
  assert.equal(url.searchParams.get("state"), "of-the-command");
  return tokenCall(platform, {
    grant_type: "authorization_code",
    code: url.searchParams.get("code") ?? "",
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    code_verifier: verifier,
  });
}

test("the command is signed in with a password, and with a passkey", async () => {
  const listed = await platform.call("GET", "/oauth/providers?organization=acme");
  assert.deepEqual(listed.body["identity_providers"], [{ uid: provider, name: "accounts", accounts: true }]);
  for (const kind of ["password", "passkey"]) {
    const browser = openAccountBrowser(platform);
    const { state, verifier } = await begin(browser);
    const done =
      kind === "password"
        ? await browser.post("/session/password", { provider, name: "ada", password: PASSWORD, state })
        : await browser.signInWith(passkey, {}, state);
    assert.equal(done.status, 200, done.text);
    assert.equal(browser.cookies.has("moorage_session"), false);
    const tokens = await redeem(done.body["redirect"], verifier);
    assert.equal(tokens.status, 200);
    const token = String(tokens.body["access_token"]);
    const group = await platform.call("GET", `/iam/v2/groups/${platform.organization}`, { token });
    assert.equal(group.status, 200);
    const sessions = await rows(platform.ok("GET", `/iam/v2/sessions?identity=${identity}`), "sessions");
    assert.ok(sessions.some((session) => session["kind"] === "SESSION_KIND_PROGRAM"));
  }
});

test("a sign-in of a program that was begun elsewhere, or was finished, is not taken", async () => {
  const [victim, attacker] = [openAccountBrowser(platform), openAccountBrowser(platform)];
  const { state } = await begin(attacker);
  const fields = { provider, name: "ada", password: PASSWORD, state };
  await begin(victim);
  assert.equal(preconditionOf(await victim.post("/session/password", fields)), "NOT_BEGUN_HERE");
  const mine = await begin(victim);
  const wrong = await victim.post("/session/password", { ...fields, password: "wrong", state: mine.state });
  assert.equal(wrong.status, 401);
  assert.equal((await victim.post("/session/password", { ...fields, state: mine.state })).status, 200);
  assert.equal(
    preconditionOf(await victim.post("/session/password", { ...fields, state: mine.state })),
    "NOT_BEGUN_HERE",
  );
  // It is no sign-in at a provider, whose answer could be made up.
  const open = await begin(victim);
  const forged = await victim.get(`/oauth/callback/${provider}?state=${open.state}&code=x&iss=urn:moorage:accounts`);
  assert.equal(forged.headers["set-cookie"]?.some((line) => line.startsWith("moorage_session=")) ?? false, false);
  assert.match(forged.headers.location ?? forged.text, /error|failed/i);
});

test("a browser is led to the sign-in page", async () => {
  const browser = openAccountBrowser(platform);
  const led = await browser.get(`/sign-in?identity_provider=${provider}&return_to=/docs`);
  assert.equal(led.headers.location, "/login?to=%2Fdocs");
  assert.deepEqual((await browser.get("/session/password")).body, { accounts: true, needsOrganization: false });
});
