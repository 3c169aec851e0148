import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { dayOf } from "../../kernel/src/lib/days.ts";
import { pushImage } from "../../server/test/support/image.ts";
import { publishNpm } from "../../server/test/support/npm.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

const GIB = 1024 ** 3;
const DAY_MS = 86_400_000;

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("storage is shown by group, with its packages and what groups share, and gone down into", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const team = await platform.group(platform.organization, { name: "payments" });
  await platform.repo(team.uid, { name: "web-shop" });
  await pushImage(platform, "acme/payments/api", "1.0");
  await pushImage(platform, "acme/worker", "1.0");
  await publishNpm(platform, "acme/payments", "hello", "1.0.0");
  const page = await signedIn();
  await page.goto("/operations/storage");
  const table = page.getByRole("table", { name: "Storage by group" });
  await page.getByRole("group", { name: "Packages" }).getByText("1 package", { exact: true }).waitFor();
  // What organizations share is not counted: there is no number for it.
  await page.getByText("shared content counts in each organization").waitFor();
  assert.equal(await table.getByRole("columnheader", { name: "of it shared" }).count(), 0);

  await table.getByRole("link", { name: "acme" }).click();
  await page.getByRole("heading", { name: "Storage of acme", exact: true }).waitFor();
  await table.getByRole("columnheader", { name: "of it shared" }).waitFor();
  await page.getByText("shared content counts in each row").waitFor();
  const own = table.getByRole("row", { name: /acme, its own images/ });
  // Both images are of the same configuration and layer.
  const size = (await own.getByRole("cell").nth(1).innerText()).trim();
  assert.match(size, /^\d+ B$/);
  assert.equal((await own.getByRole("cell").nth(2).innerText()).trim(), size);
  const largest = page.getByRole("region", { name: "Largest images" });
  await largest.getByRole("link", { name: "acme/payments/api" }).waitFor();
  await largest.getByText("2 of 3 images").waitFor();

  await table.getByRole("link", { name: "payments", exact: true }).click();
  await page.getByRole("heading", { name: "Storage of acme/payments" }).waitFor();
  await page.getByText("no content in more than one row").waitFor();
  await page.getByRole("link", { name: "The group above" }).click();
  await page.getByRole("heading", { name: "Storage of acme", exact: true }).waitFor();
  await page.getByRole("button", { name: "Remove the filter Group" }).click();
  await page.getByRole("heading", { name: "Storage", exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("what a group took up by day says of which days nothing is known, and to whom it is not shown", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const { uid } = await platform.group(platform.organization, { name: "data" });
  const nowMs = platform.clock.nowMs();
  await platform.transact(async (tx) => {
    for (const [daysAgo, gib, atLeast] of [
      [7, 3, 0],
      [6, 7, 1],
      [5, 5, 0],
    ] as const) {
      const time = nowMs - daysAgo * DAY_MS;
      await tx
        .insertInto("usage_days")
        .values({ grp: uid, day: dayOf(time), bytes: gib * GIB, at_least: atLeast, time })
        .execute();
    }
  });
  const page = await signedIn();
  await page.goto(`/operations/storage?group=${uid}`);
  const growth = page.getByRole("region", { name: "Growth of images, 30 days" });
  // Today may have been measured by now, or not.
  await growth.getByText(/ since .*\. 2\d days of 30 were not measured\./).waitFor();
  const days = growth.getByRole("table", { name: "Stored by day" });
  for (const words of ["3.00 GiB", "at least 7.00 GiB", "5.00 GiB"])
    await days.getByRole("cell", { name: words, exact: true }).waitFor({ state: "attached" });
  assert.match(String(await days.getByRole("cell", { name: "not measured" }).count()), /^2\d$/);

  const puller = await platform.identity(platform.organization, "registry.pull");
  const other = await signedIn({ identity: puller });
  await other.goto(`/operations/storage?group=${uid}`);
  await other.getByText("Not known: you need CAP_USAGE_LIST on a group to see its usage.").waitFor();
  assert.deepEqual(complaints, []);
});
