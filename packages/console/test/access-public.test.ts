// Public groups are shown in red wherever access is.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushImage } from "../../server/test/support/image.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_PUBLIC_GROUPS: "1" });
});
after(() => opened?.close());

test("a public group is shown as such among members, on its page and in the settings of its images", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const group = (await platform.group(platform.organization, { name: "open" })).uid;
  await pushImage(platform, "acme/open/app", "1.0");
  await pushImage(platform, "acme/shut", "1.0");
  await platform.bind(group, "everybody", await platform.role("registry.pull"));
  const page = await signedIn();

  await page.goto(`/access/bindings?group=${group}`);
  const row = page.getByRole("row").filter({ hasText: "everybody" });
  await row.getByText("Public", { exact: true }).waitFor();
  await row.getByText("every caller, also without a log-in").waitFor();

  const note = page.getByText("everybody can pull from here, also without a log-in");
  await page.goto(`/access/group?uid=${group}`);
  await note.waitFor();
  await page.goto("/repo/settings?name=acme/open/app");
  await note.waitFor();
  await page.getByRole("link", { name: "Members of open" }).click();
  await row.waitFor();

  await page.goto("/repo/settings?name=acme/shut");
  await page.getByRole("heading", { name: "acme/shut" }).first().waitFor();
  await page.getByRole("button", { name: "Save" }).first().waitFor();
  assert.equal(await note.count(), 0);
  assert.deepEqual(complaints, []);
});

test("a group is made public in the form for members, which says in red what that opens", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const group = (await platform.group(platform.organization, { name: "soon-open" })).uid;
  const page = await signedIn();
  await page.goto(`/access/bindings?group=${group}`);
  await page
    .getByRole("button", { name: /member/i })
    .first()
    .click();
  const dialog = page.getByRole("dialog");
  const who = dialog.getByLabel("Person or machine");
  await who.getByRole("option", { name: "everybody (public)" }).waitFor({ state: "attached" });
  const warning = dialog.getByText("every image and package of the group and of everything below it");
  assert.equal(await warning.count(), 0);
  await who.selectOption("everybody");
  await warning.waitFor();
  await dialog.getByLabel("Role").selectOption({ label: "registry.pull" });
  await dialog.getByRole("button", { name: "Add" }).click();
  await page.getByRole("row").filter({ hasText: "everybody" }).getByText("Public", { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("who may not list members reads that it is not known whether an image is public", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const { uid } = await platform.group(platform.organization, { name: "closed" });
  await pushImage(platform, "acme/closed/app", "1.0");
  const page = await signedIn({ identity: await platform.identity(uid, "viewer") });
  await page.goto("/repo/settings?name=acme/closed/app");
  await page.getByText("Whether this is public is not known").waitFor();
  assert.deepEqual(complaints, []);
});

test("where public groups are off, the form for members does not offer them", async (t) => {
  if (needs(t, opened) === undefined) return;
  const closed = await openConsole();
  t.after(() => closed?.close());
  const { signedIn, platform, complaints } = needs(t, closed) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const page = await signedIn();
  await page.goto(`/access/bindings?group=${platform.organization}`);
  const asked = page.waitForResponse(
    (answer) => answer.url().includes("/roleBindings/") && answer.request().method() === "POST",
  );
  await page
    .getByRole("button", { name: /member/i })
    .first()
    .click();
  assert.equal((await asked).status(), 400);
  const who = page.getByRole("dialog").getByLabel("Person or machine");
  await who.waitFor();
  assert.equal(await who.getByRole("option", { name: "everybody (public)" }).count(), 0);
  assert.deepEqual(complaints, []);
});
