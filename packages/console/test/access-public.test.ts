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
