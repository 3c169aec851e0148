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
