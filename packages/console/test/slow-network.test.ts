import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { openTaggedRepo } from "../../server/test/support/tagged-repo.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

// A network as slow as 3G: 0.6 s there and back, 50 kB/s.
const SLOW = { offline: false, latency: 600, downloadThroughput: 50_000, uploadThroughput: 50_000 };

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

async function slowDown(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Network.enable");
  await devTools.send("Network.emulateNetworkConditions", SLOW);
}

test("over a slow network pages say that they load, and a second click does nothing twice", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const repo = await openTaggedRepo(platform, "slow");
  await repo.push("1.0", 0);
  await repo.push("1.0", 1);
  const page = await signedIn();
  await slowDown(page);
  const sent: string[] = [];
  page.on("request", (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.goto("/repo?name=acme/slow");
  await page.getByRole("table", { name: "Tags" }).getByRole("link", { name: "1.0", exact: true }).click();
  await page.getByRole("status").getByText("Loading", { exact: true }).waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Earlier move" }).click();
  await page.getByRole("button", { name: "Roll back to this version" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Roll back", exact: true }).dblclick();
  const moves = page.getByRole("table", { name: "Moves" });
  await moves.getByText("rollback", { exact: true }).waitFor();
  assert.equal(sent.filter((each) => each.endsWith(":rollback")).length, 1);
  assert.equal(await moves.getByText("rollback", { exact: true }).count(), 1);
  assert.deepEqual(complaints, []);
});

test("over a slow network the page that was asked for last is shown", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForLoadState("networkidle");
  await page.getByRole("button", { name: "Activity" }).click();
  await slowDown(page);
  await page.getByRole("link", { name: "Audit log" }).first().click();
  await page.getByRole("link", { name: "Packages" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Packages" }).waitFor();
  await page.waitForLoadState("networkidle");
  assert.equal(new URL(page.url()).pathname, "/packages");
  assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "Packages");
  assert.deepEqual(complaints, []);
});
