import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushImage } from "../../server/test/support/image.ts";
import { addProduct } from "../../server/test/support/products.ts";
import { openTaggedRepo } from "../../server/test/support/tagged-repo.ts";
import { type Console, needs, openConsole } from "./support/console.ts";
import { pushByClient } from "./support/real-client.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("an image is found by a few letters, and its tags are protected and deleted", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  await pushByClient(t, platform, { name: "acme/web-shop", tag: "1.0", text: "1.0" });
  await pushByClient(t, platform, { name: "acme/web-shop", tag: "1.1", text: "1.1" });
  await pushByClient(t, platform, { name: "acme/web-shop", tag: "edge", text: "edge" });
  // As wide as lists of tags have to be for the platforms.
  const page = await signedIn({ options: { viewport: { width: 1440, height: 900 } } });
  const pushes = page.getByRole("table", { name: "Recent pushes" });
  await pushes.getByRole("row", { name: /acme\/web-shop.*edge/ }).waitFor();
  await page.getByRole("link", { name: "Images", exact: true }).first().click();
  await page.getByRole("searchbox", { name: "Find images" }).fill("red pandas");
  await page
    .getByRole("table", { name: "Search results" })
    .getByRole("link", { name: /^acme\/web-shop@sha256:/ })
    .first()
    .waitFor();
  await page.getByRole("searchbox", { name: "Find images" }).fill("web-sh");
  await page
    .getByRole("table", { name: "Search results" })
    .getByRole("link", { name: "acme/web-shop", exact: true })
    .first()
    .click();
  await page.getByRole("heading", { name: "acme/web-shop" }).waitFor();
  const tags = page.getByRole("table", { name: "Tags" });
  await tags.getByRole("link", { name: "edge" }).waitFor();
  await tags.getByText("amd64", { exact: true }).first().waitFor();
  await tags
    .getByText(/^[0-9.]+ [KM]?i?B$/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Tag", exact: true }).click();
  await page.waitForURL(/order=name/);

  const rowOf = (name: string) => tags.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  await rowOf("1.0").getByRole("checkbox").check();
  await page.getByRole("button", { name: "Protect" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Protect" }).click();
  await page.getByText("1 tag protected").waitFor();

  await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  const progress = page.getByRole("status", { name: "Progress" });
  await progress.getByText("1 could not be done:").waitFor();
  await progress.getByText(/protected from deletion/).waitFor();
  await tags.getByRole("link", { name: "edge" }).waitFor({ state: "detached" });
  await rowOf("1.0").waitFor();
  assert.deepEqual(complaints, []);
});

test("tags are filtered by name and deprecated", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const repo = await openTaggedRepo(platform, "till");
  for (const [at, name] of ["v1.0", "v2.0", "nightly"].entries()) await repo.push(name, at);
  const page = await signedIn();
  await page.goto("/repo?name=acme/till");
  await page.getByRole("link", { name: "nightly" }).waitFor();
  await page.getByRole("searchbox", { name: "Find a tag" }).fill("v1");
  await page.getByRole("link", { name: "nightly" }).waitFor({ state: "detached" });
  await page.getByRole("row").filter({ hasText: "v1.0" }).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Deprecate" }).click();
  await page.getByRole("row").filter({ hasText: "v1.0" }).getByText("Deprecated").waitFor();
  assert.deepEqual(complaints, []);
});

test("who may only look sees what can be done, and why not by them", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  await pushImage(platform, "acme/viewed", "1.0");
  const viewer = await platform.identity(platform.organization, "viewer");
  const page = await signedIn({ identity: viewer });
  await page.goto("/repo?name=acme/viewed");
  await page.getByRole("row").filter({ hasText: "1.0" }).getByRole("checkbox").check();
  const button = page.getByRole("button", { name: "Delete" });
  await page.locator('button[aria-description*="CAP_TAG_DELETE"]').waitFor();
  assert.equal(await button.getAttribute("aria-disabled"), "true");
  assert.deepEqual(complaints, []);
});

test("a tag says who moved it last, and when its product is past its end of life", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  await addProduct(platform);
  await platform.repo(platform.organization, { name: "engine", product: { id: "engine" } });
  await pushImage(platform, "acme/engine", "1.2");
  const page = await signedIn();
  await page.goto("/repo?name=acme/engine");
  const row = page.getByRole("table", { name: "Tags" }).getByRole("row").filter({ hasText: "1.2" });
  await row.getByText("ended").waitFor();
  const identity = await platform.ok("GET", `/iam/v2/identities/${platform.owner}`);
  await row.getByRole("link", { name: String(identity["name"]) }).waitFor();

  const viewer = await platform.identity(platform.organization, "viewer");
  const other = await signedIn({ identity: viewer });
  await other.goto("/repo?name=acme/engine");
  await other.getByRole("table", { name: "Tags" }).getByText("not shown").waitFor();
  assert.deepEqual(complaints, []);
});

test("the palette finds images and tags as well as pages", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const repo = await openTaggedRepo(platform, "bakery");
  await repo.push("v9.0", 0);
  const page = await signedIn();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  await page.keyboard.press("Control+k");
  const input = page.getByRole("combobox", { name: "Search or jump to" });
  await input.fill("baker");
  await page.getByRole("option", { name: /acme\/bakery\s*Image/ }).waitFor();
  await input.fill("v9");
  await page.getByRole("option", { name: /acme\/bakery:v9\.0\s*Tag/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/tag\?name=acme\/bakery:v9\.0/);
  await page.keyboard.press("Control+k");
  await input.fill("no such thing at all");
  await page.getByText("Nothing found.").waitFor();
  assert.deepEqual(complaints, []);
});
