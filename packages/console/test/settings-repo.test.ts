import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { eventually } from "../../server/test/support/eventually.ts";
import { openTaggedRepo } from "../../server/test/support/tagged-repo.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

const HOSTILE = `# About

<script>document.title = "taken"</script>
<img src="https://elsewhere.example/a.png" onerror="document.title='taken'">

![a picture](https://elsewhere.example/b.png) [here](javascript:alert(1)) [there](https://docs.example.com/)
[data](data:text/html,x) [inside](/sessions)
`;

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
});
after(() => opened?.close());

async function open(page: Page, name: string, section?: string): Promise<void> {
  await page.goto(`/repo/settings?name=${name}`);
  await page.getByRole("heading", { name: "Description and readme" }).waitFor();
  if (section !== undefined) await goTo(page, section);
}

async function goTo(page: Page, section: string): Promise<void> {
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: section }).click();
  await page.getByRole("heading", { name: section, level: 2 }).waitFor();
}

test("a readme is written, rendered, and does nothing that it should not", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const { uid } = await platform.repo(platform.organization, { name: "readme" });
  const page = await signedIn();
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  await open(page, "acme/readme");
  await page.getByLabel("Description", { exact: true }).fill("An app");
  await page.getByRole("textbox", { name: "Readme" }).fill(HOSTILE);
  const shown = page.getByRole("region", { name: "Preview of the readme" });
  await shown.getByRole("heading", { name: "About" }).waitFor();
  assert.deepEqual(
    await shown.getByRole("link").evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
    ["https://elsewhere.example/b.png", "https://docs.example.com/"],
  );
  assert.equal(await shown.locator("script, img, iframe").count(), 0);
  assert.equal(await shown.getByRole("link", { name: "there" }).getAttribute("rel"), "noreferrer noopener");
  await page.getByRole("button", { name: "Save description and readme" }).click();
  await page.getByText("Saved").waitFor();
  const saved = await platform.ok("GET", `/registry/v2/repos/${uid}`);
  assert.deepEqual([saved.description, saved["readme"]], ["An app", HOSTILE]);
  await page.reload();
  await shown.getByRole("heading", { name: "About" }).waitFor();
  assert.match(await page.title(), /^Settings of acme\/readme/);
  assert.deepEqual(
    requested.filter((url) => !url.startsWith(platform.url)),
    [],
  );
  assert.deepEqual(complaints, []);
});

test("a tag policy is tried before it is saved, and shows what is wrong beside its fields", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const repo = await openTaggedRepo(platform, "policy");
  await repo.push("build-1", 0);
  await repo.push("build-2", 1);
  const page = await signedIn();
  await open(page, "acme/policy", "Retention");
  await page.getByRole("button", { name: "Add a rule" }).click();
  await page.getByLabel("Rule 0: tags").fill("build-.*");
  await page.getByLabel("Rule 0: keep the last").fill("1");
  // The preview is of what is typed, before it is saved.
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText("Not saved yet").waitFor();
  await preview.getByRole("row", { name: /build-1/ }).waitFor();
  await preview.getByText("1 tag deleted").waitFor();
  await preview.getByText("1 tag kept").waitFor();
  assert.equal(Object.keys(await repo.tags()).length, 2);
  await page.getByRole("button", { name: "Save retention" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await preview.getByText("Not saved yet").waitFor({ state: "detached" });

  await goTo(page, "Tag rules");
  const immutable = page.getByRole("textbox", { name: "Immutable tags" });
  await immutable.fill("v[0-9");
  await page.getByRole("button", { name: "Save tag rules" }).click();
  await eventually(async () => (await immutable.getAttribute("aria-invalid")) === "true");
  await immutable.fill("v[0-9].*\nstable");
  await page.getByLabel("History retention, days").fill("30");
  await page.getByRole("button", { name: "Save tag rules" }).click();
  await eventually(async () => {
    const { tagPolicy } = await platform.ok<{ tagPolicy?: Record<string, unknown> }>(
      "GET",
      `/registry/v2/repos/${repo.uid}`,
    );
    return tagPolicy?.["historyRetention"] !== undefined;
  });

  await goTo(page, "Vulnerability gate");
  await page.getByLabel("Block images with findings").check();
  await page.getByLabel("Severity").selectOption({ label: "critical" });
  await page.getByLabel("Only with a fix").check();
  await page.getByLabel("being promoted").uncheck();
  await page.getByRole("button", { name: "Save vulnerability gate" }).click();
  await page.getByRole("alert").getByText("Choose one").waitFor();
  await page.getByLabel("being pulled").check();
  await page.getByLabel("Grace period, days").fill("14");
  await page.getByLabel("What it does").selectOption("GATE_MODE_ENFORCE");
  await page.getByRole("button", { name: "Save vulnerability gate" }).click();
  const policy = await eventually(async () => {
    const { tagPolicy } = await platform.ok<{ tagPolicy?: Record<string, unknown> }>(
      "GET",
      `/registry/v2/repos/${repo.uid}`,
    );
    return tagPolicy?.["vulnerabilities"] !== undefined && tagPolicy;
  });
  assert.deepEqual(policy["immutableTags"], ["v[0-9].*", "stable"]);
  assert.equal(policy["historyRetention"], "2592000s");
  assert.equal((policy["retention"] as unknown[]).length, 1);
  assert.deepEqual(policy["vulnerabilities"], {
    severity: "FINDING_SEVERITY_CRITICAL",
    fixableOnly: true,
    kev: false,
    graceDays: 14,
    on: ["GATE_ACTION_PULL"],
    mode: "GATE_MODE_ENFORCE",
    onUnknown: "ON_UNKNOWN_HOLD",
  });
  assert.deepEqual(complaints, []);
});

test("a repo follows another, is synced by hand, and follows no more", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const source = await openTaggedRepo(platform, "source");
  await source.push("v1", 0);
  const { uid } = await platform.repo(platform.organization, { name: "mirror" });
  const page = await signedIn();
  await open(page, "acme/mirror", "Mirror");
  const field = page.getByRole("textbox", { name: "Source" });
  await field.fill("acme/nothing");
  await page.getByRole("button", { name: "Save mirror" }).click();
  await eventually(async () => (await field.getAttribute("aria-invalid")) === "true");
  await field.fill("acme/source");
  await page.getByRole("button", { name: "Save mirror" }).click();
  const state = page.getByRole("region", { name: "State of the mirror" });
  await state.getByText("succeeded").waitFor();
  const tagsOf = async (): Promise<unknown[]> =>
    (await platform.ok<{ tags: unknown[] }>("GET", `/registry/v2/tags?uidp.childrenOf=${uid}`)).tags;
  assert.equal((await tagsOf()).length, 1);

  await source.push("v2", 1);
  await state.getByRole("button", { name: "Sync now" }).click();
  await eventually(async () => (await tagsOf()).length === 2);
  await page.getByRole("button", { name: "Stop following" }).click();
  await state.waitFor({ state: "detached" });
  const { syncConfig } = await platform.ok("GET", `/registry/v2/repos/${uid}`);
  assert.equal(syncConfig, undefined);
  assert.deepEqual(complaints, []);
});

test("a repo is deleted once its name is written; a viewer reads why not", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const { uid } = await platform.repo(platform.organization, { name: "old" });
  const viewer = await signedIn({ identity: await platform.identity(platform.organization, "viewer") });
  await open(viewer, "acme/old");
  for (const [section, name, capability] of [
    ["Tag rules", "Save tag rules", "CAP_REPO_UPDATE"],
    ["Mirror", "Save mirror", "CAP_REPO_UPDATE"],
    ["Delete image", "Delete this image…", "CAP_REPO_DELETE"],
  ] as const) {
    await goTo(viewer, section);
    const button = viewer.getByRole("button", { name });
    await eventually(async () => (await button.getAttribute("aria-description"))?.startsWith(`You need ${capability}`));
    await button.click({ force: true });
  }
  assert.equal(await viewer.getByRole("dialog").count(), 0);

  const page = await signedIn();
  await open(page, "acme/old", "Delete image");
  await page.getByRole("button", { name: "Delete this image…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.getByText("Enter acme/old to delete it.").waitFor();
  await dialog.getByLabel("Enter the name of the image").fill("acme/old");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/images/);
  const { status } = await platform.call("GET", `/registry/v2/repos/${uid}`, { token: await platform.token() });
  assert.equal(status, 404);
  await page.goto("/repo/settings?name=acme/old");
  await page.getByRole("heading", { name: "No image acme/old" }).waitFor();
  // The router notes the error of a page that could not be loaded.
  assert.deepEqual(
    complaints.filter((text) => !text.includes("There is no image acme/old")),
    [],
  );
});
