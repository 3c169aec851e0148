import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import {
  addProvider,
  openPeopleProvider,
  type PeopleProvider,
  tokenCall,
} from "../../../server/test/support/people-provider.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// A person in a real browser, Debian's Chromium, at a real OpenID provider.
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path));
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const TIMEOUT_MS = 60_000;
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

/** A new browser. Undefined when no browser is installed; the test is then skipped with the reason. */
async function openChromium(t: TestContext): Promise<BrowserContext | undefined> {
  if (CHROMIUM === undefined) {
    t.skip("no Chromium on this machine: apt-get install chromium");
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), "moorage-browser-"));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM,
    headless: true,
    args: FLAGS,
    timeout: TIMEOUT_MS,
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  t.after(async () => {
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return context;
}

/** Logs in and consents on the provider's own pages. */
async function signInThere(page: Page): Promise<void> {
  await page.fill('input[name="login"]', "ada");
  await page.fill('input[name="password"]', "any");
  await page.click('button[type="submit"]');
  await page.waitForSelector('input[name="prompt"][value="consent"]', { state: "attached" });
  await page.click('button[type="submit"]');
}

test(
  "a person signs in, lands with a session that scripts cannot read, and has an identity, a role and entries in the audit log",
  { timeout: 300_000 },
  async (t) => {
    const context = await openChromium(t);
    if (context === undefined) return;
    const page = await context.newPage();
    await page.goto(`${platform.url}/sign-in?identity_provider=${idp}&return_to=/session`);
    await signInThere(page);
    await page.waitForURL(`${platform.url}/session`);
    const { identity, email } = JSON.parse(await page.innerText("body")) as { identity: string; email: string };
    assert.equal(email, "ada@example.com");
    const cookie = (await context.cookies(platform.url)).find(({ name }) => name === "moorage_session");
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, "Lax"]);
    assert.equal(await page.evaluate("document.cookie"), "");
    const minted = (await page.evaluate(
      `fetch("/session/token", { method: "POST" }).then((answer) => answer.json())`,
    )) as { token: string };
    assert.equal(
      (await platform.call("GET", `/iam/v2/groups/${platform.organization}`, { token: minted.token })).status,
      200,
    );

    const bindings = await platform.reader
      .selectFrom("role_bindings")
      .select(["parent", "role_uid"])
      .where("identity_uid", "=", identity)
      .execute();
    assert.deepEqual(
      bindings.map((row) => [row.parent, row.role_uid]),
      [[platform.organization, await platform.role("viewer")]],
    );
    const entries = await platform.reader
      .selectFrom("audit_entries")
      .select("method")
      .where("identity", "=", identity)
      .orderBy("create_time")
      .execute();
    assert.deepEqual(entries.map(({ method }) => method).slice(0, 2), ["iam.signIn", "session.token"]);
    assert.equal(await page.evaluate(`fetch("/session", { method: "DELETE" }).then((answer) => answer.status)`), 200);
    await page.reload();
    assert.match(await page.innerText("body"), /nobody is signed in/);
  },
);

test("a page of another site gets no token with the person's cookie", { timeout: 300_000 }, async (t) => {
  const context = await openChromium(t);
  if (context === undefined) return;
  const page = await context.newPage();
  await page.goto(`${platform.url}/sign-in?identity_provider=${idp}&return_to=/session`);
  await signInThere(page);
  await page.waitForURL(`${platform.url}/session`);
  // Another port of the same host: another origin of the same site, so the browser sends the cookie along.
  await page.goto(`${people.url}/.well-known/openid-configuration`);
  const status = await page.evaluate(
    `fetch("${platform.url}/session/token", { method: "POST", credentials: "include", mode: "no-cors" }).then((answer) => answer.type)`,
  );
  assert.equal(status, "opaque");
  assert.equal(
    (
      await platform.reader
        .selectFrom("audit_entries")
        .select("uid")
        .where("method", "=", "session.token")
        .where("details", "like", "%token%")
        .execute()
    ).length,
    1,
    "that of the test before",
  );
});

test(
  "a person signs in a device: the forms work under the page's Content Security Policy",
  { timeout: 300_000 },
  async (t) => {
    const context = await openChromium(t);
    if (context === undefined) return;
    const { body: codes } = await tokenCall(
      platform,
      { client_id: "moorage-cli", identity_provider: idp },
      "/oauth/device_authorization",
    );
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" && /Content Security Policy/.test(message.text())) faults.push(message.text());
    });
    await page.goto(String(codes["verification_uri_complete"]));
    await page.click("button");
    await page.click('button[value="go"]');
    await signInThere(page);
    await page.waitForURL(/\/oauth\/callback/);
    assert.match(await page.innerText("body"), /You may close this page/);
    assert.deepEqual(faults, []);
    const given = await tokenCall(platform, {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: String(codes["device_code"]),
      client_id: "moorage-cli",
    });
    assert.equal(given.status, 200, JSON.stringify(given.body));
  },
);

test(
  "a person chooses the provider of a device on the page, by the organization's name",
  { timeout: 300_000 },
  async (t) => {
    const context = await openChromium(t);
    if (context === undefined) return;
    const { body: codes } = await tokenCall(platform, { client_id: "moorage-cli" }, "/oauth/device_authorization");
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" && /Content Security Policy/.test(message.text())) faults.push(message.text());
    });
    await page.goto(`${platform.url}/oauth?user_code=${String(codes["user_code"])}`);
    await page.click("button");
    await page.click('button[value="go"]');
    await page.fill('input[name="organization"]', "acme");
    await page.click("button");
    await page.click(`button[value="${idp}"]`);
    await signInThere(page);
    await page.waitForURL(/\/oauth\/callback/);
    assert.match(await page.innerText("body"), /You may close this page/);
    assert.deepEqual(faults, []);
  },
);
