import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { codeOf, type Console, needs, openConsole } from "./support/console.ts";

// A page that stays open: its session ends, a right goes, the server is away, another tab signs out.
let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("a session that is ended elsewhere leads to the sign-in, and back to the page", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform } = console_;
  const page = await console_.signedIn();
  await page.goto("/events");
  await page.getByRole("heading", { level: 1 }).waitFor();
  const { sessions } = await platform.ok<{ sessions: { uid: string; kind: string }[] }>("GET", "/iam/v2/sessions");
  for (const { uid } of sessions) await platform.ok("DELETE", `/iam/v2/sessions/${uid}`);
  // Whichever comes first: the next look, or the page's own stream of events, which takes the link away unclicked.
  const look = page.getByRole("link", { name: "Home", exact: true }).first().click();
  await Promise.race([look.catch(() => undefined), page.getByText("Your session has ended").waitFor()]);
  await page.getByText("Your session has ended").waitFor();
  await page.getByText("Sign in with an access token").click();
  await page.getByLabel("Access token").fill(await platform.token());
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL((url) => url.pathname !== "/login");
});

test("a right that is taken away while the page is open is gone with the next look, and the page says so", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform } = console_;
  const group = await platform.group(platform.organization);
  const identity = await platform.identity(platform.organization);
  const binding = await platform.bind(group.uid, identity, (await roleOf(console_, "owner")).uid);
  const page = await console_.signedIn({ identity });
  const address = `/access/group?uid=${group.uid}`;
  await page.goto(address);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
  await page.reload();
  await page.getByRole("heading", { name: "Not found" }).waitFor();
});

test("two tabs are signed in together, and out together", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const one = await console_.signedIn();
  const other = await one.context().newPage();
  await other.goto("/");
  await other.getByRole("heading", { level: 1 }).waitFor();
  await one.getByRole("button", { name: "Account" }).click();
  await one.getByRole("menuitem", { name: "Sign out" }).click();
  await one.getByRole("heading", { name: "Sign in" }).waitFor();
  await other.reload();
  await other.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("while the server does not answer the page says so, and goes on by itself", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const page = await console_.signedIn();
  await page.getByRole("button", { name: "Activity" }).click();
  await page.getByRole("link", { name: "Audit log" }).first().waitFor();
  await codeOf(page, "audit-page");
  await page.context().setOffline(true);
  await page.getByRole("link", { name: "Audit log" }).first().click();
  await page.getByText("The server is not responding").first().waitFor();
  await page.context().setOffline(false);
  await page.getByRole("heading", { name: "Audit log" }).first().waitFor();
});

async function roleOf({ platform }: Console, name: string): Promise<{ uid: string }> {
  const { roles } = await platform.ok<{ roles: { uid: string }[] }>("GET", `/iam/v2/roles?name=${name}`);
  return roles[0] ?? assert.fail(name);
}
