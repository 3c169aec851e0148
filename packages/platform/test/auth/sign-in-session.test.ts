import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Browser, openBrowser } from "../../../server/test/support/browser.ts";
import { addProvider, openPeopleProvider, type PeopleProvider } from "../../../server/test/support/people-provider.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// A sign-in that gives the browser itself a session.
let platform: Platform;
let people: PeopleProvider;
let idp: string;

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  people = await openPeopleProvider();
  people.claims = { email: "ada@example.com", email_verified: true, name: "Ada" };
  idp = await addProvider(platform, people);
});
after(async () => {
  await people?.close();
  await platform?.close();
});

const url = (change: Record<string, string> = {}): string =>
  `${platform.url}/sign-in?${new URLSearchParams({ identity_provider: idp, return_to: "/session", ...change })}`;
const ask = (browser: Browser, method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call(method, path, { headers: { cookie: browser.cookies(platform.url).join("; "), ...headers } });
const OWN = { "sec-fetch-site": "same-origin" };

async function signedIn(): Promise<Browser> {
  const browser = openBrowser();
  const shown = await browser.signIn(url(), "ada");
  assert.equal(shown.url, `${platform.url}/session`, shown.text);
  assert.equal((JSON.parse(shown.text) as { email: string }).email, "ada@example.com");
  return browser;
}

test("a sign-in returns the browser to the requested page, with a session; signing out ends the session", async () => {
  const browser = await signedIn();
  const { status, body, headers } = await ask(browser, "GET", "/session");
  assert.deepEqual(
    [status, Object.keys(body), body.name, headers["cache-control"]],
    [200, ["identity", "name", "email", "expireTime"], "ada", "no-store"],
  );
  const { body: minted } = await ask(browser, "POST", "/session/token", OWN);
  assert.equal(
    (await platform.call("GET", `/iam/v2/groups/${platform.organization}`, { token: String(minted["token"]) })).status,
    200,
  );
  assert.ok(Date.parse(String(minted["expiry"])) <= Date.now() + 900_000);
  const cookie = browser.cookies(platform.url).join("; ");
  const ended = await ask(browser, "DELETE", "/session", OWN);
  assert.match(String(ended.headers["set-cookie"]), /^moorage_session=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/);
  assert.equal(
    (await platform.call("GET", "/session", { headers: { cookie } })).status,
    401,
    "the cookie alone brings nothing back",
  );
});

test("the cookie is for this host alone, and scripts cannot read it", async () => {
  const browser = openBrowser();
  const begun = await browser.signIn(url(), "ada", `${platform.url}/oauth/callback`);
  const landed = await browser.open(begun.location, `${platform.url}/session`);
  assert.match(
    landed.headers.getSetCookie().join("\n"),
    /^moorage_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/m,
  );
});

test("requests from another site's page are refused", async () => {
  const browser = await signedIn();
  for (const headers of [
    {},
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "same-site", origin: platform.url },
  ] as Record<string, string>[]) {
    assert.equal((await ask(browser, "POST", "/session/token", headers)).status, 403, JSON.stringify(headers));
    assert.equal((await ask(browser, "DELETE", "/session", headers)).status, 403, JSON.stringify(headers));
  }
  assert.equal((await ask(browser, "POST", "/session/token", { origin: platform.url })).status, 200);
});

test("a session ends after an hour without a request, and after twelve in any case", async () => {
  const browser = await signedIn();
  const status = async (afterMs: number): Promise<number> => {
    platform.clock.offsetMs += afterMs;
    return (await ask(browser, "GET", "/session")).status;
  };
  for (let n = 0; n < 13; n += 1) assert.equal(await status(3_300_000), 200);
  assert.equal(await status(600_000), 401);
  platform.clock.offsetMs = 0;
  const idle = await signedIn();
  platform.clock.offsetMs += 3_601_000;
  assert.equal((await ask(idle, "GET", "/session")).status, 401);
  platform.clock.offsetMs = 0;
});

test("deleting the provider ends its sessions immediately", async () => {
  const removed = await addProvider(platform, people);
  const browser = openBrowser();
  assert.equal((await browser.signIn(url({ identity_provider: removed }), "ada")).status, 200);
  await platform.ok("DELETE", `/iam/v2/identityProviders/${removed}`);
  assert.equal((await ask(browser, "GET", "/session")).status, 401);
  assert.equal((await ask(browser, "POST", "/session/token", OWN)).status, 401);
});

test("a sign-in never redirects to another site, and a forged cookie is no session", async () => {
  for (const path of [
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "evil",
    "/a\\b",
    "/\t/evil.example",
    "javascript:alert(1)",
    "/%0d%0aset-cookie:a=b\r\n",
  ]) {
    assert.equal((await openBrowser().open(url({ return_to: path }))).status, 400, path);
  }
  assert.equal((await openBrowser().open(url({ identity_provider: "f".repeat(40) }))).status, 400);
  for (const value of ["", "short", "A".repeat(43), `${"A".repeat(43)}; moorage_session=${"B".repeat(43)}`]) {
    assert.equal(
      (await platform.call("GET", "/session", { headers: { cookie: `moorage_session=${value}` } })).status,
      401,
    );
  }
});
