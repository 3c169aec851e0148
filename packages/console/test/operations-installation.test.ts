import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTaggedRepo } from "../../server/test/support/tagged-repo.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("the owner sees jobs and feeds, and what garbage collection would remove", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const repo = await openTaggedRepo(platform, "shop", { retention: [{ keepLast: 1 }] });
  await repo.push("one", 0);
  await repo.push("two", 1);
  const page = await signedIn();
  await page.getByRole("link", { name: "Installation" }).click();
  await page.getByText(/^(SQLite|PostgreSQL)$/).waitFor();
  await page.getByText("No feeds yet").waitFor();
  await page.getByText("moorage feeds add osv kev epss", { exact: true }).waitFor();
  await page.getByText("moorage feeds add osv-npm", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Count what it would remove" }).click();
  const removed = page.getByRole("status", { name: "What would be removed" });
  assert.match(await removed.innerText(), /Would be freed\s+\d+ B/);
  assert.match(await removed.innerText(), /Tags\s+1/);
  await page.getByRole("row", { name: /acme\/shop/ }).waitFor();
  assert.equal(Object.keys(await repo.tags()).length, 2);
  assert.deepEqual(complaints, []);
});

test("feeds are shown with what they cover, their age, and what of them finds nothing", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const nowMs = platform.clock.nowMs();
  const coverage = JSON.stringify([
    { space: "debian:12", records: 3, isMatched: true },
    { space: "Unheard Of", records: 1, isMatched: false },
  ]);
  await platform.transact(async (tx) => {
    await tx
      .insertInto("feeds")
      .values({
        name: "osv-npm",
        format: "osv",
        licence: "CC0-1.0",
        address: "",
        interval_ms: 3_600_000,
        products: "[]",
        origin: "command",
        run: "",
        etag: "",
        last_modified: "",
        records: 4,
        withdrawn: 0,
        problems: 0,
        error: "",
        restate: "",
        create_time: nowMs - 30 * 86_400_000,
        coverage,
        unmatched: 1,
      })
      .execute();
    await tx
      .insertInto("feed_problems")
      .values({ feed: "osv-npm", n: 0, record: "A-1", position: "A-1", message: "names no package", kind: "UNMATCHED" })
      .execute();
  });
  const page = await signedIn();
  await page.goto("/operations");
  await page.getByRole("row", { name: /osv-npm.*overdue.*debian:12, not matched: Unheard Of/ }).waitFor();
  await page.getByRole("row", { name: /A-1.*matches nothing.*names no package/ }).waitFor();
  // A feed that is there is not offered.
  await page.getByText("moorage feeds add osv-pypi", { exact: true }).waitFor();
  assert.equal(await page.getByText("moorage feeds add osv-npm", { exact: true }).count(), 0);
  assert.deepEqual(complaints, []);
});

test("others read for whom the page is", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const page = await signedIn({ identity: await platform.identity(platform.organization, "viewer") });
  await page.goto("/operations");
  await page.getByText("You need CAP_OPERATIONS_LIST").waitFor();
  assert.deepEqual(complaints, []);
});

test("storage is shown by group, and gone down into", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const team = await platform.group(platform.organization, { name: "payments" });
  await platform.repo(team.uid, { name: "web-shop" });
  const page = await signedIn();
  await page.goto("/operations/storage");
  await page.getByRole("table", { name: "Storage by group" }).getByRole("link", { name: "acme" }).click();
  await page.getByRole("heading", { name: "Storage of acme" }).waitFor();
  await page.getByRole("row", { name: /acme, its own repos/ }).waitFor();
  await page.getByRole("link", { name: "payments", exact: true }).click();
  await page.getByRole("heading", { name: "Storage of acme/payments" }).waitFor();
  await page.getByRole("link", { name: "The group above" }).click();
  await page.getByRole("heading", { name: "Storage of acme", exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});
