import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { pushLayers } from "../../server/test/support/catalog/push.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { openTaggedRepo, type TaggedRepo } from "../../server/test/support/tagged-repo.ts";
import type { Platform } from "../../server/test/support/platform.ts";
import { pushImage } from "../../server/test/support/image.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

const DAY_MS = 86_400_000;

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

/** Has the tag been moved last so many days ago. */
async function age(platform: Platform, repo: TaggedRepo, name: string, days: number): Promise<void> {
  const time = platform.clock.nowMs() - days * DAY_MS;
  await platform.transact(async (tx) => {
    await tx
      .updateTable("tags")
      .set({ update_time: time })
      .where("parent", "=", repo.uid)
      .where("name", "=", name)
      .execute();
  });
}

/** Deprecates a tag through the API. */
async function deprecate(platform: Platform, repo: TaggedRepo, name: string): Promise<void> {
  await platform.ok("POST", `/registry/v2/tags/${repo.uid}`, { name, digest: repo.digests[0], deprecated: true });
}

/** Waits until the table has these tags and no others. */
async function shows(page: Page, ...names: string[]): Promise<void> {
  const links = page.getByRole("table", { name: "Tags" }).locator("tbody tr td:nth-child(2) a");
  const wanted = names.toSorted().join(" ");
  await eventually(async () => (await links.allTextContents()).toSorted().join(" ") === wanted);
}

test("tags are filtered by chips that hold as they are chosen, and what is left out is counted", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const repo = await openTaggedRepo(platform, "chips");
  const attached = `${repo.digests[0].replace(":", "-")}.sig`;
  for (const name of ["v1.0", "v2.0", "v2.0-20260102", "v2.0-r3", attached]) await repo.push(name, 0);
  await age(platform, repo, "v1.0", 20);
  await deprecate(platform, repo, "v2.0-r3");
  const page = await signedIn();
  await page.goto("/repo?name=acme/chips");
  await shows(page, "v1.0", "v2.0", "v2.0-20260102", "v2.0-r3", attached);
  const updated = page.getByLabel("Updated", { exact: true });
  const status = page.getByLabel("Status", { exact: true });
  const hide = page.getByLabel("Hide", { exact: true });

  await hide.selectOption({ label: "Signatures and attestations" });
  await shows(page, "v1.0", "v2.0", "v2.0-20260102", "v2.0-r3");
  await page.getByText("1 tag does not fit the filters.").waitFor();
  await updated.selectOption({ label: "7 days" });
  await shows(page, "v2.0", "v2.0-20260102", "v2.0-r3");
  await page.getByText("2 tags do not fit the filters.").waitFor();
  await status.selectOption({ label: "Not deprecated" });
  await shows(page, "v2.0", "v2.0-20260102");
  await page.waitForURL(/updated=7.*status=current|status=current.*updated=7/);
  // The address has them: whoever is sent it sees the same.
  await page.reload();
  await shows(page, "v2.0", "v2.0-20260102");
  await page.getByText("3 tags do not fit the filters.").waitFor();

  // A search keeps to the filters, and counts what they leave out of what it finds.
  await page.getByRole("searchbox", { name: "Find a tag" }).fill("v2");
  await page.getByText("1 tag whose name holds “v2” does not fit the filters.").waitFor();
  await shows(page, "v2.0", "v2.0-20260102");
  await status.selectOption({ label: "Deprecated" });
  await shows(page, "v2.0-r3");
  await page.getByText("2 tags whose names hold “v2” do not fit the filters.").waitFor();
  await hide.selectOption({ label: "Tags with a package epoch" });
  await page.getByRole("heading", { name: "No tag matches the filters" }).waitFor();
  await page.getByText("3 tags whose names hold “v2” do not fit the filters.").waitFor();
  for (const name of ["Hide", "Updated", "Status"])
    await page.getByRole("button", { name: `Remove the filter ${name}` }).click();
  await shows(page, "v2.0", "v2.0-20260102", "v2.0-r3");
  assert.equal(await page.getByText("fit the filters").count(), 0);
  assert.deepEqual(complaints, []);
});

test("deprecated tags are listed to the last page of them, and a hidden selection is dropped", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const repo = await openTaggedRepo(platform, "pages");
  const tags = Array.from({ length: 104 }, (_, at) => `old-${String(at).padStart(3, "0")}`);
  for (const name of tags) await deprecate(platform, repo, name);
  await repo.push("new", 1);
  const page = await signedIn();
  await page.goto("/repo?name=acme/pages");
  await page.getByRole("row").filter({ hasText: "new" }).getByRole("checkbox").check();
  await page.getByText("1 selected").waitFor();
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Deprecated" });
  await page.getByText("1 selected").waitFor({ state: "detached" });
  // More than a page: the next one follows as soon as its end is near, and says how many tags were left out.
  await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
  await page.getByText("1 tag does not fit the filters.").waitFor();
  await page.getByText("104 tags", { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("tags are filtered by what they point to, and what is not known is counted and shown", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const { uid } = await platform.repo(platform.organization, { name: "facts" });
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const target = { url: platform.url, token, name: "acme/facts" };
  for (const architecture of ["amd64", "arm64"])
    await pushLayers(target, `for-${architecture}`, [Buffer.from(architecture)], undefined, {
      architecture,
      os: "linux",
    });
  await platform.ok("POST", `/registry/v2/tags/${uid}`, { name: "gone", digest: `sha256:${"a".repeat(64)}` });
  const page = await signedIn();
  await page.goto("/repo?name=acme/facts");
  await shows(page, "for-amd64", "for-arm64", "gone");
  await page.getByLabel("Platform", { exact: true }).selectOption({ label: "arm64" });
  await shows(page, "for-arm64");
  await page.getByText("1 tag does not fit the filters. Of 1 tag it is not known whether it fits.").waitFor();
  await page.getByRole("searchbox", { name: "Find a tag" }).fill("go");
  await page.getByText("Of 1 tag whose name holds “go” it is not known whether it fits.").waitFor();
  await page.getByRole("searchbox", { name: "Find a tag" }).fill("");
  await page.getByRole("button", { name: "Remove the filter Platform" }).click();

  // No feed is there: that nothing was found says nothing.
  await page.getByLabel("Findings", { exact: true }).selectOption({ label: "None" });
  await page.getByRole("heading", { name: "No tag matches the filters" }).waitFor();
  await page.getByText("Of 3 tags it is not known whether they fit.").waitFor();
  await page.getByRole("button", { name: "Show what is not known" }).click();
  await shows(page, "for-amd64", "for-arm64", "gone");
  await page.waitForURL(/findings=unknown/);
  await page.getByText("0 tags do not fit the filters.").waitFor();
  // What was pushed just now waits to be looked at, and is not known until then.
  await eventually(async () => {
    const path = `/registry/v2/tags?uidp.children_of=${uid}&signature=NONE`;
    return ((await platform.ok("GET", path))["tags"] as unknown[]).length === 2;
  });
  await page.getByLabel("Signature", { exact: true }).selectOption({ label: "Not known" });
  await shows(page, "gone");
  assert.deepEqual(complaints, []);
});

test("names of one digest share a row, which is selected as a whole; each may have a row of its own", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const digest = await pushImage(platform, "acme/names", "1.0");
  const { repos } = await platform.ok<{ repos: { uid: string }[] }>("GET", "/registry/v2/repos?name=names");
  const uid = repos[0]?.uid ?? "";
  for (const name of ["1", "latest"]) await platform.ok("POST", `/registry/v2/tags/${uid}`, { name, digest });
  await platform.ok("POST", `/registry/v2/tags/${uid}`, { name: "0.9", digest: `sha256:${"a".repeat(64)}` });
  const page = await signedIn();
  await page.goto("/repo?name=acme/names&order=name");
  const tags = page.getByRole("table", { name: "Tags" });
  const shared = tags.getByRole("row").filter({ hasText: "latest" });
  await shared.getByRole("link", { name: "1.0", exact: true }).waitFor();
  await shared.getByRole("link", { name: "1", exact: true }).waitFor();
  assert.equal(await tags.getByRole("row").count(), 3, "the head, and a row for each digest");
  await page.getByText("4 tags", { exact: true }).last().waitFor();
  await shared.getByRole("checkbox").check();
  await page.getByText("3 selected").waitFor();
  const compare = page.getByRole("button", { name: "Compare" });
  assert.equal(await compare.getAttribute("aria-disabled"), "true", "one digest is no comparison");
  await tags.getByRole("row").filter({ hasText: "0.9" }).getByRole("checkbox").check();
  await page.getByText("4 selected").waitFor();
  assert.notEqual(await compare.getAttribute("aria-disabled"), "true");

  await page.getByRole("radio", { name: "Each tag" }).check({ force: true });
  await tags.getByRole("row").nth(4).waitFor();
  assert.equal(await tags.getByRole("row").count(), 5);
  assert.match(page.url(), /rows=tags/);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/repo?name=acme/names");
  await tags.getByRole("row").filter({ hasText: "latest" }).getByRole("link", { name: "1.0", exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});
