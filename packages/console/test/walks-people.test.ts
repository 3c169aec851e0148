import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { PASSWORD } from "../../server/test/support/accounts.ts";
import { type MailServer, startMailServer } from "../../server/test/support/mail-server.ts";
import { type Platform, startPlatform } from "../../server/test/support/platform.ts";
import { needs, openBrowser } from "./support/console.ts";
import { at, pageWithPasskeys } from "./support/passkeys.ts";
import { logInAndPush } from "./support/real-client.ts";

// What people do on their first day, from the first link to the first push, with a browser and docker alone.
let browser: Browser | undefined;
let platform: Platform | undefined;
let mail: MailServer | undefined;
before(async () => {
  browser = await openBrowser();
  if (browser === undefined) return;
  mail = await startMailServer();
  platform = await startPlatform({
    MOORAGE_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    MOORAGE_SMTP_FROM: "registry@example.com",
    MOORAGE_WORK_POLL: "200ms",
  });
});
after(async () => {
  await browser?.close();
  await platform?.close();
  await mail?.close();
});

/** Makes a personal token that pushes to acme, and answers the line that logs docker in. */
async function tokenLine(page: Page): Promise<string> {
  await page.goto("/profile/tokens");
  await page.getByRole("button", { name: "New token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("laptop");
  await dialog.getByLabel("Permissions").selectOption("push");
  await dialog.getByRole("button", { name: "Create" }).click();
  return await page.getByRole("group", { name: "Log docker in" }).innerText();
}

/** The link in the newest mail to this address. */
async function linkFor(server: MailServer, address: string): Promise<string> {
  const { text } = await server.mailTo(address);
  return text.split("\n").find((line) => line.startsWith("http")) ?? "";
}

test("an invited person with a browser and docker alone comes from the link to a pushed image", async (t) => {
  const opened = needs(t, browser);
  if (opened === undefined || platform === undefined) return;
  const invite = await platform.ok("POST", `/iam/v2/groupInvites/${platform.organization}`, {
    roleUid: await platform.role("editor"),
    ttl: "3600s",
    singleUse: true,
  });
  const { page, complaints } = await pageWithPasskeys(opened, platform);
  await page.goto(at(String(invite["url"])));
  await page.getByRole("heading", { name: "Join acme" }).waitFor();
  await page.getByRole("button", { name: "Use a password instead" }).click();
  await page.getByLabel("Name", { exact: true }).fill("lin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.waitForURL("/");
  const line = await tokenLine(page);
  await page.getByRole("link", { name: "Get the moorage command" }).waitFor();
  const host = /docker login (\S+) /.exec(line)?.[1] ?? "";
  const by = await logInAndPush(t, { line, host, name: "acme/walk", tag: "1.0" });
  if (by === "nothing") return t.diagnostic("not pushed: neither skopeo nor docker is on this machine");
  t.diagnostic(by === "docker" ? "docker logged in, and skopeo pushed with its log-in" : "skopeo in place of docker");
  const images = await platform.call("GET", "/registry/v2/repos?name=walk", { token: await platform.token() });
  assert.match(images.text, /"name": ?"walk"/);
  assert.deepEqual(complaints, []);
});

test("an owner without a provider signs in by the first link, invites by mail, helps a person who lost the passkey", async (t) => {
  const opened = needs(t, browser);
  if (opened === undefined || platform === undefined || mail === undefined) return;
  const owner = await pageWithPasskeys(opened, platform);
  const first = await platform.call("POST", "/session/links", { token: await platform.token() });
  await owner.page.goto(at(String(first.body["url"])));
  await owner.page.getByRole("button", { name: "Sign in" }).click();
  await owner.page.waitForURL("/profile?first=yes");
  await owner.page.getByLabel("Name", { exact: true }).fill("root@example.com");
  await owner.page.getByRole("button", { name: "Create a passkey" }).click();
  await owner.page.getByText("From now on, sign in with it").first().waitFor();

  await owner.page.goto(`/access/invites?group=${platform.organization}`);
  await owner.page.getByRole("button", { name: "New invite" }).click();
  const dialog = owner.page.getByRole("dialog");
  await dialog.getByRole("radio", { name: "Editor" }).check();
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("is required").waitFor();
  await dialog.getByLabel("Email address").fill("kit@example.com");
  await dialog.getByRole("button", { name: "Create" }).click();
  await owner.page.getByText("The invite is on its way to kit@example.com").first().waitFor();
  await owner.page.getByRole("cell", { name: "kit@example.com" }).waitFor();

  const kit = await pageWithPasskeys(opened, platform);
  await kit.page.goto(at(await linkFor(mail, "kit@example.com")));
  await kit.page.getByRole("heading", { name: "Join acme" }).waitFor();
  await kit.page.getByLabel("Name", { exact: true }).fill("kit@example.com");
  await kit.page.getByRole("button", { name: "Create a passkey" }).click();
  await kit.page.waitForURL("/");
  const line = await tokenLine(kit.page);
  const host = /docker login (\S+) /.exec(line)?.[1] ?? "";
  const pushed = await logInAndPush(t, { line, host, name: "acme/first", tag: "1" });
  if (pushed === "nothing") t.diagnostic("not pushed: neither skopeo nor docker is on this machine");
  else
    assert.match((await platform.call("GET", "/registry/v2/repos", { token: await platform.token() })).text, /first/);

  await owner.page.reload();
  await owner.page.getByText("mail sent").waitFor();
  const [person] = (
    await platform.ok<{ identities: { uid: string }[] }>("GET", "/iam/v2/identities?name=kit&uidp.in_root=true")
  ).identities;
  await owner.page.goto(`/access/identity?uid=${person?.uid ?? ""}`);
  await owner.page.getByRole("button", { name: "Recovery link" }).click();
  await owner.page.getByRole("dialog").getByRole("button", { name: "Create the link" }).click();
  const shown = await owner.page.getByRole("dialog").getByRole("group", { name: "link" }).innerText();
  assert.match(shown, /\/sign-in\/recover#[\w-]{43}/);
  await owner.page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
  mail.mails.length = 0;
  await owner.page.getByRole("button", { name: "Recovery link" }).click();
  await owner.page
    .getByLabel("How they get the link")
    .selectOption({ label: "The server emails it to kit@example.com" });
  await owner.page.getByRole("dialog").getByRole("button", { name: "Create the link" }).click();
  await owner.page.getByText("The recovery link is on its way to kit@example.com").first().waitFor();
  const again = await pageWithPasskeys(opened, platform);
  await again.page.goto(at(await linkFor(mail, "kit@example.com")));
  await again.page.getByText("This sets a new passkey or password for").waitFor();
  await again.page.getByRole("button", { name: "Create a passkey" }).click();
  await again.page.waitForURL("/");
  await kit.page.goto("/profile");
  await kit.page.waitForURL(/\/login/);
  assert.deepEqual([...owner.complaints, ...kit.complaints, ...again.complaints], []);
});
