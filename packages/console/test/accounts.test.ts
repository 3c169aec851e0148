import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Browser } from "playwright-core";
import { appCode, PASSWORD } from "../../server/test/support/accounts.ts";
import { type Platform, startPlatform } from "../../server/test/support/platform.ts";
import { needs, openBrowser } from "./support/console.ts";
import { at, pageWithPasskeys } from "./support/passkeys.ts";

// People without an identity provider, in a real browser: passkeys are made by its virtual authenticator.
let browser: Browser | undefined;
let platform: Platform | undefined;
before(async () => {
  browser = await openBrowser();
  if (browser !== undefined) platform = await startPlatform();
});
after(async () => {
  await browser?.close();
  await platform?.close();
});

test("the first owner makes a passkey by the first link, invites a person, and the person joins with a passkey", async (t) => {
  const opened = needs(t, browser);
  if (opened === undefined || platform === undefined) return;
  const { page, complaints } = await pageWithPasskeys(opened, platform);
  const link = await platform.call("POST", "/session/links", { token: await platform.token() });
  await page.goto(at(String(link.body["url"])));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("/profile?first=yes");
  await page.getByLabel("Name", { exact: true }).fill("root@example.com");
  await page.getByRole("button", { name: "Create a passkey" }).click();
  await page.getByRole("button", { name: "Rename Passkey" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("laptop");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("cell", { name: "laptop", exact: true }).waitFor();
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByRole("heading", { name: "First steps" }).waitFor();

  const invite = await platform.ok("POST", `/iam/v2/groupInvites/${platform.organization}`, {
    roleUid: await platform.role("editor"),
    ttl: "3600s",
    singleUse: true,
  });
  const person = await pageWithPasskeys(opened, platform);
  await person.page.goto(at(String(invite["url"])));
  await person.page.getByRole("heading", { name: "Join acme" }).waitFor();
  await person.page.getByText("as editor").waitFor();
  await person.page.getByLabel("Name", { exact: true }).fill("ada@example.com");
  await person.page.getByRole("button", { name: "Create a passkey" }).click();
  await person.page.getByText("acme", { exact: true }).first().waitFor();
  assert.deepEqual([...complaints, ...person.complaints], []);
});

test("a person makes a password with an authenticator app, and recovers by an owner's link", async (t) => {
  const opened = needs(t, browser);
  if (opened === undefined || platform === undefined) return;
  const { clock } = platform;
  const { page, complaints } = await pageWithPasskeys(opened, platform);
  const org = await platform.ok("POST", "/iam/v2/groups", { name: "beta" });
  const path = `/iam/v2/identityProviders/${org.uid}`;
  await platform.ok("POST", path, { name: "people", accounts: { secondFactor: true } });
  const roleUid = await platform.role("viewer");
  const invite = await platform.ok("POST", `/iam/v2/groupInvites/${org.uid}`, { roleUid, ttl: "3600s" });
  await page.goto(at(String(invite["url"])));
  await page.getByRole("button", { name: "Use a password instead" }).click();
  await page.getByLabel("Name", { exact: true }).fill("bob");
  await page.getByLabel("Password").fill("short");
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.getByText("must have at least 12 characters").waitFor();
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.getByRole("img", { name: "QR code for the app" }).waitFor();
  await page.getByText("I can't scan it").click();
  const secret = await page.getByRole("group", { name: "secret" }).innerText();
  await page.getByRole("textbox", { name: "Code" }).fill(appCode(secret.trim(), clock.nowMs()));
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.waitForURL("/");
  await page.goto("/profile");
  await page.getByText("set up", { exact: true }).waitFor();
  const [bob] = (
    await platform.ok<{ identities: { uid: string }[] }>("GET", "/iam/v2/identities?name=bob&uidp.in_root=true")
  ).identities;
  // The recovery link, as the owner of the installation makes it.
  const token = await platform.token();
  const made = await platform.call("POST", "/session/recovery-links", { token, body: { identity: bob?.uid } });
  await page.goto(at(String(made.body["url"])));
  await page.getByText("This sets a new passkey or password for").waitFor();
  await page.getByRole("button", { name: "Create a passkey" }).click();
  await page.waitForURL("/");
  assert.deepEqual(complaints, []);
});
