import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTaggedRepo } from "../../server/test/support/tagged-repo.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("the owner sees jobs, and what garbage collection would remove", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const repo = await openTaggedRepo(platform, "shop", { retention: [{ keepLast: 1 }] });
  await repo.push("one", 0);
  await repo.push("two", 1);
  const page = await signedIn();
  await page.getByRole("button", { name: "System" }).click();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Overview" }).click();
  await page.getByText(/^(SQLite|PostgreSQL)$/).waitFor();
  await page.getByRole("button", { name: "Preview" }).click();
  const removed = page.getByRole("status", { name: "What would be removed" });
  assert.match(await removed.innerText(), /Would be freed\s+\d+ B/);
  assert.match(await removed.innerText(), /Tags\s+1/);
  await page.getByRole("row", { name: /acme\/shop/ }).waitFor();
  assert.equal(Object.keys(await repo.tags()).length, 2);
  assert.deepEqual(complaints, []);
});

test("the overview says what of the disk is free, warns when that is little, and knows when it does not know", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { signedIn, complaints } = console_;
  const page = await signedIn();
  await page.goto("/operations");
  const free = page.getByRole("group", { name: "Free disk" });
  assert.match(await free.innerText(), /\d [KMGTP]?i?B\s+of \d/);

  // The disk of a test cannot be filled: only what the server answers is changed.
  const answer = async (disk: object | undefined): Promise<void> => {
    await page.unroute("**/operations/v2/installation*");
    await page.route("**/operations/v2/installation*", async (route) => {
      const response = await route.fetch();
      const { disk: _, ...rest } = (await response.json()) as Record<string, unknown>;
      await route.fulfill({ response, json: { ...rest, ...(disk && { disk }) } });
    });
    await page.reload();
  };
  await answer({ totalBytes: "1000", freeBytes: "99" });
  await page.getByText("Little disk space is left: 99 B of 1000 B are free.").waitFor();
  await answer({ totalBytes: "1000", freeBytes: "500" });
  await page.getByRole("group", { name: "Free disk" }).getByText("500 B").waitFor();
  assert.equal(await page.getByText("Little disk space is left").count(), 0);
  await answer(undefined);
  await page.getByRole("group", { name: "Free disk" }).getByText("not known").waitFor();
  assert.deepEqual(complaints, []);
});

test("others read for whom the pages are", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const page = await signedIn({ identity: await platform.identity(platform.organization, "viewer") });
  for (const path of ["/operations", "/operations/feeds"]) {
    await page.goto(path);
    await page.getByText("You need CAP_OPERATIONS_LIST").waitFor();
  }
  assert.deepEqual(complaints, []);
});
