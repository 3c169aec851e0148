import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Console, needs, openConsole } from "./support/console.ts";

const HOSTILE = `<img src="https://elsewhere.example/x.png" onerror="document.title='taken'"><script>alert(1)</script>`;

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("events show as they happen, can be paused, and are opened as text", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  await platform.group(platform.organization, { name: "before" });
  const page = await signedIn();
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  await page.goto("/events");
  await page.getByRole("cell", { name: "before", exact: true }).waitFor();

  await platform.group(platform.organization, { name: "meanwhile", description: HOSTILE });
  await page.getByRole("cell", { name: "meanwhile", exact: true }).waitFor();
  const first = page.getByRole("row").nth(1);
  assert.match(await first.innerText(), /group\.created/);
  await first.getByRole("button").click();
  await page.getByRole("dialog").getByText(HOSTILE.replaceAll('"', '\\"')).waitFor();
  assert.equal(await page.locator("img[onerror], main script").count(), 0);
  await page.getByRole("button", { name: "Close", exact: true }).click();

  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused: new events appear when you resume.").waitFor();
  await platform.group(platform.organization, { name: "later" });
  const asked = requested.filter((url) => url.includes("/events/v2/events")).length;
  await page.getByLabel("Subject").fill(" ");
  assert.equal(await page.getByRole("cell", { name: "later", exact: true }).count(), 0);
  assert.equal(requested.filter((url) => url.includes("/events/v2/events")).length, asked);
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("cell", { name: "later", exact: true }).waitFor();

  await page.getByLabel("Show").selectOption({ label: "oldest first" });
  await page.waitForURL(/from=oldest/);
  await page.getByRole("cell", { name: "before", exact: true }).waitFor();
  await page.getByLabel("Type begins with").fill("dev.moorage.nothing.");
  await page.getByText("No stored event matches").waitFor();
  assert.deepEqual(
    requested.filter((url) => !url.startsWith(platform.url)),
    [],
  );
  assert.deepEqual(complaints, []);
});

test("who may not read events reads why", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const { uid: role } = await platform.ok("POST", `/iam/v2/roles/${platform.organization}`, {
    name: "groups-alone",
    capabilities: ["CAP_IAM_GROUPS_LIST"],
  });
  const identity = await platform.identity(platform.organization);
  await platform.bind(platform.organization, identity, role);
  const page = await signedIn({ identity });
  await page.goto("/events");
  await page.getByRole("alert").getByText("CAP_EVENTS_LIST").waitFor();
  assert.deepEqual(complaints, []);
});
