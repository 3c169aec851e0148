import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../server/test/support/eventually.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("a session that is ended from the list signs the other browser out", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { signedIn, complaints } = console_;
  const other = await signedIn({ options: { userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Firefox/130.0" } });
  await other.goto("/sessions");
  await other.getByRole("row", { name: /Firefox on Linux This browser/ }).waitFor();

  const page = await signedIn();
  await page.goto("/profile");
  await page.getByRole("navigation", { name: "Your account" }).getByRole("link", { name: "Sessions" }).click();
  const row = page.getByRole("row", { name: /Firefox on Linux/ });
  await row.getByRole("button", { name: /^End/ }).click();
  await page.getByRole("button", { name: "End it" }).click();
  await page.getByText("The session has ended").waitFor();
  await row.waitFor({ state: "detached" });
  await page.getByText("this browser").waitFor();

  await other.getByRole("link", { name: "Storage" }).click();
  await other.waitForURL(/\/login/);
  await other.getByText("Your session has ended").waitFor();
  assert.deepEqual(complaints, []);
});

test("ending the session of this browser signs out here", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { signedIn, complaints } = console_;
  const page = await signedIn();
  await page.goto("/sessions");
  await page
    .getByRole("row", { name: /This browser/ })
    .getByRole("button", { name: /^End/ })
    .click();
  await page.getByRole("button", { name: "End it" }).click();
  await page.waitForURL(/\/login/);
  assert.deepEqual(complaints, []);
});

test("sessions of others are listed and ended by those who may", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const robot = await platform.identity(platform.organization, "viewer");
  await signedIn({ identity: robot });
  const viewer = await signedIn({ identity: await platform.identity(platform.organization, "viewer") });
  await viewer.goto(`/sessions?identity=${robot}`);
  const end = viewer.getByRole("button", { name: /^End the session/ });
  await eventually(async () =>
    (await end.getAttribute("aria-description"))?.startsWith("You need CAP_IAM_IDENTITY_UPDATE"),
  );
  await end.click({ force: true });
  assert.equal(await viewer.getByRole("dialog").count(), 0);

  const page = await signedIn();
  await page.goto("/sessions");
  await page.getByLabel("Person or machine").selectOption(robot);
  await page.getByRole("button", { name: /^End the session/ }).click();
  await page.getByRole("button", { name: "End it" }).click();
  await page.getByText("No sessions").waitFor();
  await page.goto("/sessions?identity=nobody");
  await page.getByRole("alert").or(page.getByText("No sessions")).first().waitFor();
  assert.deepEqual(complaints, []);
});
