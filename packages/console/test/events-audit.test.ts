import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("the audit log is filtered in the URL, opened, and saved as CSV without formulas", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const team = await platform.group(platform.organization, { name: "team" });
  const visitor = await platform.identity(team.uid, "viewer");
  await platform.call("DELETE", `/iam/v2/groups/${team.uid}`, {
    token: await platform.token(visitor),
    headers: { "user-agent": "=1+1" },
  });
  const page = await signedIn();
  await page.goto("/audit");
  await page.getByRole("button", { name: "GroupsService.CreateGroup" }).first().waitFor();
  // The console's own renewed sign-in is left out until it is asked for.
  await page.getByText(/the console renewed a sign-in: not shown here/).waitFor();
  assert.equal(await page.getByRole("button", { name: "session.token" }).count(), 0);
  await page.getByRole("link", { name: "Show them" }).click();
  await page.getByRole("button", { name: "session.token" }).first().waitFor();
  await page.getByRole("link", { name: "Hide them" }).click();
  await page.getByLabel("Decision", { exact: true }).selectOption("denied");
  await page.getByLabel("Identity").fill(visitor);
  await page.waitForURL(/decision=denied.*identity=|identity=.*decision=denied/);
  const denied = page.getByRole("row", { name: /GroupsService.DeleteGroup Denied/ });
  // What was denied is written within a second.
  for (let turn = 0; turn < 20 && (await denied.count()) === 0; turn += 1) {
    await page.reload();
    await page.getByRole("heading", { name: "Audit log" }).waitFor();
    await page.waitForTimeout(300);
  }
  await denied.getByRole("button").click();
  await page.getByRole("dialog").getByText("lacks CAP_IAM_GROUPS_DELETE").waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).click();

  const waiting = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export as CSV" }).click();
  const download = await waiting;
  assert.equal(download.suggestedFilename(), "audit.csv");
  const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\r\n");
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? "", /^time,decision,method,identity/);
  assert.match(lines[1] ?? "", /,denied,moorage\.iam\.v2\.GroupsService\.DeleteGroup,.*,'=1\+1,/);

  await page.getByLabel("Identity").fill("nobody such");
  await page.getByRole("alert").or(page.getByText("No entry that you can read matches")).first().waitFor();
  assert.deepEqual(complaints, []);
});
