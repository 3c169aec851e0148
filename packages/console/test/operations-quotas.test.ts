import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../server/test/support/eventually.ts";
import { pushImage } from "../../server/test/support/image.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("a quota is set on a group, shows what is used, says why something is refused, and is lifted", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const team = await platform.group(platform.organization, { name: "payments" });
  await platform.repo(team.uid, { name: "web-shop" });
  const page = await signedIn();
  await page.goto("/operations/quotas");
  await page.getByText("No group is limited").waitFor();
  await page.getByRole("button", { name: "Set a quota" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Group").selectOption({ label: "acme/payments" });
  await dialog.getByLabel("Storage").fill("ten gigabytes");
  await dialog.getByRole("button", { name: "Set quota" }).click();
  await dialog.getByText("must be a size, such as 10 GiB").waitFor();
  await dialog.getByLabel("Storage").fill("10 GiB");
  await dialog.getByLabel("Images").fill("1");
  await dialog.getByRole("button", { name: "Set quota" }).click();
  const row = page.getByRole("row", { name: /acme\/payments/ });
  await row.getByText("1 of 1").waitFor();
  // The page shows what is used once that is counted.
  await eventually(async () => {
    const { state } = await platform.ok("GET", `/registry/v2/quotas/${team.uid}`);
    return state !== "QUOTA_STATE_COUNTING";
  });
  const refused = await platform.call("POST", `/registry/v2/repos/${team.uid}`, {
    token: await platform.token(),
    body: { name: "one-too-many" },
  });
  assert.equal(refused.status, 400);
  await page.reload();
  await row.getByText("Exceeded").waitFor();
  await row.getByText("0 B of 10.0 GiB").waitFor();
  await page.getByText("Images: nothing more is accepted until usage goes down.").waitFor();

  await row.getByRole("button", { name: "Actions for acme/payments" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  assert.equal(await dialog.getByLabel("Storage").inputValue(), "10 GiB");
  await dialog.getByLabel("Images").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText("1, no limit").waitFor();
  await row.getByRole("button", { name: "Actions for acme/payments" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No group is limited").waitFor();
  assert.deepEqual(complaints, []);
});

test("whoever owns a group reads that its quota is set from above", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const team = await platform.group(platform.organization, { name: "limited" });
  await platform.ok("POST", `/registry/v2/quotas/${team.uid}`, { tags: "10" });
  await pushImage(platform, "acme/limited/app", "1.0");
  const page = await signedIn({ identity: await platform.identity(team.uid, "owner") });
  await page.goto(`/operations/quotas?group=${team.uid}`);
  await page.getByText("To set this quota, you need").first().waitFor();
  await page.getByRole("cell", { name: "1 of 10" }).waitFor();
  const button = page.getByRole("button", { name: "Set a quota" });
  assert.equal(await button.getAttribute("aria-disabled"), "true");
  assert.deepEqual(complaints, []);
});
