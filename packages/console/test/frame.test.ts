import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushImage } from "../../server/test/support/image.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

// The frame around all pages: places, breadcrumbs, organizations, keys, the phone, and addresses that are nothing.
const PHONE = { width: 390, height: 844 };

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("places fold open one at a time, are remembered, and say where a page is", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  const nav = page.getByRole("navigation", { name: "Pages", exact: true });
  await nav.getByRole("button", { name: "Access" }).click();
  await nav.getByRole("link", { name: "Machines" }).waitFor();
  await nav.getByRole("button", { name: "Activity" }).click();
  await nav.getByRole("link", { name: "Machines" }).waitFor({ state: "detached" });
  await page.reload();
  await nav.getByRole("link", { name: "Webhooks" }).click();
  const crumbs = page.getByRole("navigation", { name: "Breadcrumbs" });
  await crumbs.getByText("Webhooks").waitFor();
  assert.match((await crumbs.textContent()) ?? "", /Activity.*Webhooks$/);
  assert.equal(await nav.locator("[aria-current=page]").textContent(), "Webhooks");

  // The pages of a place that are no entries are its tabs.
  await page.goto("/access/pull-tokens");
  await page.getByRole("navigation", { name: "Machines" }).getByRole("link", { name: "Cloud accounts" }).click();
  await page.waitForURL("/access/associations");

  await page.keyboard.press("Control+b");
  await page.getByRole("button", { name: "Expand the navigation" }).waitFor();
  await nav.getByRole("link", { name: "Images" }).click();
  await page.waitForURL(/\/images/);
  await page.keyboard.press("g");
  await page.keyboard.press("h");
  await page.waitForURL((url) => url.pathname === "/");
  assert.deepEqual(complaints, []);
});

test("an organization is chosen at the top, and goes along to the pages of the navigation", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const page = await signedIn();
  await page.getByRole("button", { name: /choose an organization/ }).click();
  await page.getByRole("menuitem", { name: "acme" }).click();
  await page.waitForURL((url) => url.searchParams.get("group") === platform.organization);
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "acme" }).waitFor();
  await page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link", { name: "Images" }).click();
  await page.waitForURL(`/images?group=${platform.organization}`);
  assert.deepEqual(complaints, []);
});

test("the palette knows other words for pages and actions, machines, and ids of vulnerabilities", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const identity = await platform.identity(platform.organization);
  const { name } = await platform.ok<{ name: string }>("GET", `/iam/v2/identities/${identity}`);
  const page = await signedIn();
  await page.getByRole("heading", { name: "First steps" }).waitFor();
  await page.keyboard.press("Control+k");
  const input = page.getByRole("combobox", { name: "Search or jump to" });
  const option = (text: string | RegExp) => page.getByRole("option", { name: text });
  await input.fill("robot");
  await option(/CI and push tokens/).waitFor();
  await option(/Add a machine/).waitFor();
  await input.fill(">");
  await option(/Create a webhook/).waitFor();
  assert.equal(await page.getByRole("group", { name: "Pages", exact: true }).count(), 0);
  await input.fill(name);
  await option(name).waitFor();
  // Where a search fails, that nothing was found is not all that is said.
  await page.route("**/libraries/v2/artifacts*", (route) => route.fulfill({ status: 503, body: "{}" }));
  await input.fill("nothing is called so");
  await page.getByText("Not everything could be searched").waitFor();
  await input.fill("cve-2026-31337");
  await option("CVE-2026-31337").waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("/vulnerability?id=CVE-2026-31337");
  assert.deepEqual(
    (complaints ?? []).filter((each) => !each.includes("503")),
    [],
  );
});

test("an image is created, and its page has the command that pushes to it", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const page = await signedIn();
  await page.goto(`/images?group=${platform.organization}`);
  await page.getByRole("button", { name: "New image" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("checkout");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.waitForURL(/\/repo\?name=acme\/checkout/);
  await page.getByText(/docker push .*\/acme\/checkout:1\.0/).waitFor();
  await page.getByLabel("Client").selectOption("podman");
  await page.getByRole("radio", { name: "Push" }).check({ force: true });
  await page
    .getByRole("group", { name: "push command" })
    .getByText(/^podman push /)
    .waitFor();
  assert.deepEqual(complaints, []);
});

test("on a phone the first places are at the foot, and the rest opens over the page", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn({ options: { viewport: PHONE, hasTouch: true } });
  const dock = page.getByRole("navigation", { name: "Main pages" });
  await dock.getByRole("link", { name: "Packages" }).tap();
  await page.getByRole("heading", { name: "Packages", exact: true }).waitFor();
  await dock.getByRole("button", { name: "More" }).tap();
  const nav = page.getByRole("navigation", { name: "Pages", exact: true });
  await nav.getByRole("button", { name: "System" }).tap();
  await nav.getByRole("link", { name: "Storage" }).tap();
  await page.waitForURL("/operations/storage");
  await page.getByRole("heading", { name: "Storage", exact: true }).waitFor();
  await nav.waitFor({ state: "hidden" });
  assert.deepEqual(complaints, []);
});

test("an address that is nothing is said within the frame, with the image that was meant", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined || complaints === undefined) return;
  await pushImage(platform, "acme/storefront", "1.0");
  const page = await signedIn();
  await page.goto("/repo?name=acme/storefornt");
  await page.getByRole("link", { name: "acme/storefront" }).click();
  await page.getByRole("table", { name: "Tags" }).waitFor();
  await page.goto("/no/such/page");
  await page.getByRole("heading", { name: "Not found" }).waitFor();
  await page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link", { name: "Images" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
  // The router notes the error of a page that could not be loaded.
  complaints.length = 0;
});

test("on a phone a long tag stays in one line, with its findings below it", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  await platform.repo(platform.organization, { name: "narrow" });
  const tag = `sha256-${"0123456789abcdef".repeat(4)}.sig`;
  await pushImage(platform, "acme/narrow", tag);
  const page = await signedIn({ options: { viewport: PHONE, hasTouch: true } });
  await page.goto("/repo?name=acme/narrow");
  const tags = page.getByRole("table", { name: "Tags" });
  const link = tags.getByRole("link", { name: tag, exact: true });
  const found = tags.locator("a[href*='part=findings']");
  await found.waitFor();
  const [name, findings] = [await link.boundingBox(), await found.boundingBox()];
  assert.ok(name !== null && findings !== null);
  assert.ok(name.width > 150 && name.height < 30, `${name.width} x ${name.height}`);
  assert.ok(findings.y >= name.y + name.height, "findings are below the name");
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), PHONE.width);
  await link.click();
  await page.getByRole("heading", { name: new RegExp(tag) }).waitFor();
  assert.deepEqual(complaints, []);
});
