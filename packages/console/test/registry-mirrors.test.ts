import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushImage } from "../../server/test/support/image.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_WORK_POLL: "20ms" });
});
after(() => opened?.close());

test("a mirror is set up from a pasted reference, and its state stands in the list", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  await pushImage(platform, "acme/source", "1.2");
  await pushImage(platform, "acme/source", "1.3");
  const page = await signedIn();
  await page.goto("/images");
  await page.getByRole("link", { name: "Mirrors" }).click();
  await page.getByText("No mirrors here").waitFor();
  await page.getByRole("button", { name: "Mirror an image" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Image to follow").fill("docker pull acme/source:1.2");
  await dialog.getByText("tags matching 1\\.2").waitFor();
  await dialog.getByLabel("Group").selectOption({ label: "acme" });
  await dialog.getByRole("button", { name: "Create mirror" }).click();
  // Its name is that of the image that it would follow.
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Name here").fill("copy");
  await dialog.getByRole("button", { name: "Create mirror" }).click();
  const state = page.getByRole("region", { name: "State of the mirror" });
  await state.getByText("succeeded").waitFor();

  await page.goto("/images/mirrors");
  const row = page.getByRole("row", { name: /acme\/copy/ });
  await row.getByText("succeeded").waitFor();
  await row.getByText("acme/source", { exact: true }).waitFor();
  await page.goto("/repo?name=acme/copy");
  const tags = page.getByRole("table", { name: "Tags" });
  await tags.getByRole("link", { name: "1.2" }).waitFor();
  assert.equal(await tags.getByRole("link", { name: "1.3" }).count(), 0);
  assert.deepEqual(complaints, []);
});

test("deprecated images are listed with what to use instead", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  await platform.repo(platform.organization, {
    name: "old",
    deprecation: { message: "no longer built", replacement: "acme/new", block: true },
  });
  const page = await signedIn();
  await page.goto("/images/deprecated");
  const row = page.getByRole("row", { name: /acme\/old/ });
  await row.getByText("acme/new").waitFor();
  await row.getByText("Rejected").waitFor();
  assert.deepEqual(complaints, []);
});
