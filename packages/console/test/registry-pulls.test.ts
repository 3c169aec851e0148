import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../server/test/support/eventually.ts";
import { pushImage } from "../../server/test/support/image.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_WORK_POLL: "20ms" });
});
after(() => opened?.close());

test("an image shows how often it is pulled, by day, tag and who; days before are not known", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  await pushImage(platform, "acme/pulled", "1.0");
  const { repos } = await platform.ok<{ repos: { uid: string }[] }>("GET", "/registry/v2/repos?name=pulled");
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  for (let pull = 0; pull < 3; pull += 1) await platform.call("GET", "/v2/acme/pulled/manifests/1.0", { token });
  await eventually(async () => {
    const { pulls } = await platform.ok<{ pulls: { count: string }[] }>(
      "GET",
      `/registry/v2/pulls?repo_uid=${repos[0]?.uid}&group_by=REPO`,
    );
    return pulls[0]?.count === "3";
  });
  const page = await signedIn();
  await page.goto("/repo?name=acme/pulled");
  await page.getByText("3 pulls counted since").waitFor();
  await page.getByRole("navigation", { name: "Parts of the image" }).getByRole("link", { name: "Pulls" }).click();
  await page.getByRole("group", { name: "Pulls, 30 days" }).getByText("at least 3").waitFor();
  const days = page.getByRole("table", { name: "Pulls by day" });
  await days.getByRole("cell", { name: "not known" }).first().waitFor();
  // At midnight of UTC the pulls are of the day before.
  assert.ok((await days.getByRole("cell", { name: "not known" }).count()) >= 28);
  await page
    .getByRole("table", { name: "Pulls by tag" })
    .getByRole("row", { name: /^1\.0 3 / })
    .waitFor();
  await page.getByRole("table", { name: "Pulls by who pulled" }).getByRole("link", { name: "owner" }).waitFor();

  // The lists have them, too: what is counted only since today is a lower bound, and its lack is no 0.
  await pushImage(platform, "acme/pulled", "2.0");
  await page.goto("/repo?name=acme/pulled");
  const tags = page.getByRole("table", { name: "Tags" });
  await tags.getByRole("row").filter({ hasText: "1.0" }).getByRole("cell", { name: "3+", exact: true }).waitFor();
  await tags
    .getByRole("row")
    .filter({ hasText: "2.0" })
    .getByTitle(/^Counted only since/)
    .waitFor();
  await page.goto(`/images?group=${platform.organization}`);
  const images = page.getByRole("table", { name: "Images" });
  await images.getByRole("row").filter({ hasText: "pulled" }).getByRole("cell", { name: "3+", exact: true }).waitFor();
  const blind = await signedIn({ identity: await platform.identity(platform.organization, "registry.pull") });
  await blind.goto(`/images?group=${platform.organization}`);
  await blind.getByRole("table", { name: "Images" }).getByRole("link", { name: "pulled" }).waitFor();
  await blind.getByRole("columnheader", { name: "Pulls, 30 d" }).waitFor({ state: "detached" });
  await blind.goto("/repo?name=acme/pulled");
  await blind.getByRole("table", { name: "Tags" }).getByRole("link", { name: "1.0", exact: true }).waitFor();
  await blind.getByRole("columnheader", { name: "Pulls, 30 d" }).waitFor({ state: "detached" });

  // Whoever may not list events sees the numbers, and why nobody is named.
  const reader = await platform.identity(platform.organization, "viewer");
  const theirs = await signedIn({ identity: reader });
  await theirs.goto("/repo?name=acme/pulled&part=pulls");
  await theirs.getByRole("group", { name: "Last pull" }).waitFor();
  await theirs.getByText("You need CAP_EVENTS_LIST here to see who pulled").waitFor();
  assert.deepEqual(complaints, []);
});

test("an image is deprecated in its settings, and says what to use instead", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  await pushImage(platform, "acme/old", "1.0");
  await pushImage(platform, "acme/new", "1.0");
  const page = await signedIn();
  await page.goto("/repo/settings?name=acme/old&part=deprecation");
  await page.getByLabel("This image is deprecated").check();
  await page.getByLabel("Reason").fill("no longer built");
  await page.getByLabel("Use instead").fill("Not A Path");
  await page.getByLabel("Reject pulls from then on").check();
  await page.getByRole("button", { name: "Save deprecation" }).click();
  await page.getByText("must be the path of an image").waitFor();
  await page.getByLabel("Use instead").fill("acme/new");
  await page.getByRole("button", { name: "Save deprecation" }).click();
  await page.getByText("No longer built. Use").waitFor();
  await page.getByText("Pulls are rejected.").waitFor();
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  assert.equal((await platform.call("GET", "/v2/acme/old/manifests/1.0", { token })).status, 403);
  await page.getByRole("link", { name: "acme/new" }).click();
  await page.getByRole("heading", { name: "acme/new" }).waitFor();

  await page.goto("/repo/settings?name=acme/old&part=deprecation");
  await page.getByLabel("This image is deprecated").uncheck();
  await page.getByRole("button", { name: "Save deprecation" }).click();
  await page.getByText("Pulls are rejected.").waitFor({ state: "detached" });
  assert.equal((await platform.call("GET", "/v2/acme/old/manifests/1.0", { token })).status, 200);
  assert.deepEqual(complaints, []);
});
