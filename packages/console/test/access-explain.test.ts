import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Console, needs, openConsole } from "./support/console.ts";
import { pushByClient } from "./support/real-client.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("whether an identity may pull a tag, why not, and after a role is bound that it may", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  await pushByClient(t, platform, { name: "acme/app", tag: "1.0", text: "app" });
  const identity = await platform.identity(platform.organization);
  const page = await signedIn();
  await page.goto(`/access/identity?uid=${identity}`);
  await page.getByRole("link", { name: "Can it pull that image?" }).click();
  await page.getByLabel("Image").fill("acme/app:1.0");
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByText(/^No: /).waitFor();
  const steps = page.getByRole("list", { name: "Steps of the decision" });
  await steps.getByText("Failed").first().waitFor();
  await page.getByRole("link", { name: "Give a role there" }).first().click();

  await page.getByRole("button", { name: "New member" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Role", { exact: true }).selectOption({ label: "registry.pull" });
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("table").getByRole("link", { name: "registry.pull" }).waitFor();

  await page.goto(`/access/explain?identity=${identity}&action=pull&resource=acme/app:1.0`);
  await page.getByText(/^Yes: /).waitFor();
  assert.equal(await steps.getByText("Failed").count(), 0);
  await page.getByLabel("What", { exact: true }).selectOption("push");
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.waitForURL(/action=push/);
  await page.getByText(/^No: /).waitFor();
  assert.deepEqual(complaints, []);
});

test("markup in an image's name is text, and who may not ask is answered so", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const name = encodeURIComponent(`<img src=x onerror="window.hostile=1">`);
  const page = await signedIn();
  await page.goto(`/access/explain?identity=anybody&action=pull&resource=${name}`);
  await page.getByRole("main").getByRole("alert").or(page.getByText(/^No: /)).first().waitFor();
  assert.equal(await page.evaluate(() => (globalThis as { hostile?: number }).hostile), undefined);
  assert.equal(await page.locator("main img").count(), 0);

  const stranger = await platform.identity(platform.organization);
  const theirs = await signedIn({ identity: stranger });
  await theirs.goto(`/access/explain?identity=${platform.owner}&action=pull&resource=acme/app:1.0`);
  await theirs.getByRole("main").getByRole("alert").waitFor();
  assert.equal(await theirs.getByText(/^Yes: /).count(), 0);
  assert.deepEqual(complaints, []);
});
