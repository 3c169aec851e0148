import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../server/test/support/eventually.ts";
import { startFakeHub } from "../../server/test/support/fake-hub.ts";
import { LOOPBACK } from "../../server/test/support/mirror.ts";
import { type Console, needs, openConsole } from "./support/console.ts";
import { unreadableOf } from "./support/narrow.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ ...LOOPBACK, MOORAGE_WORK_POLL: "20ms" });
});
after(() => opened?.close());

const PATH = "/registry/v2/upstreams";

test("an upstream is created, says how its registry answers, follows it, and is detached with what is missing", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const hub = await startFakeHub(t);
  hub.hasCatalog = true;
  hub.push("team/app", ["v1", "v2"], "content");
  hub.push("team/broken", "v1", "other content");
  hub.misbehave = ({ path, res }) => path.startsWith("team/broken/") && res.writeHead(500).end() !== undefined;
  const { uid: group, name } = await platform.group(platform.organization);
  const page = await signedIn();
  const dialog = page.getByRole("dialog");

  await page.goto("/images");
  await page.getByRole("link", { name: "Upstreams" }).click();
  await page.waitForURL(/\/images\/upstreams/);
  await page.goto(`/images/upstreams?group=${group}`);
  await page.getByText("No upstreams here").waitFor();
  await page.getByRole("button", { name: "New upstream" }).click();
  await dialog.getByLabel("Registry", { exact: true }).fill(hub.registry);
  await dialog.getByLabel("User name there").fill("robot");
  await dialog.getByLabel("Keep what nobody pulls, days").fill("0.5");
  await dialog.getByRole("button", { name: "Create" }).click();
  // Each is said at its field, and what was typed stays.
  await dialog.getByText("is needed with a user name").waitFor();
  await dialog.getByText("must be whole seconds, from 86400").waitFor();
  await dialog.getByLabel("User name there").fill("");
  await dialog.getByLabel("Keep what nobody pulls, days").fill("");
  await dialog.getByLabel("Storage limit").fill("much");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("must be a size, such as 50 GiB").waitFor();
  await dialog.getByLabel("Storage limit").fill("50 GiB");
  await dialog.getByRole("button", { name: "Create" }).click();
  const row = page.getByRole("table", { name: "Upstreams" }).getByRole("row", { name: new RegExp(name) });
  await row.getByText("Not asked yet").waitFor();
  await row.getByText("only what is pulled").waitFor();
  await row.getByText("not stated").waitFor();

  await row.getByRole("link", { name: hub.registry }).click();
  await page.getByText("an image comes when somebody pulls it").waitFor();
  await page.getByText("50.0 GiB").waitFor();
  const now = page.getByRole("button", { name: "Copy now" });
  assert.equal(await now.getAttribute("aria-disabled"), "true");
  await page.getByRole("button", { name: /^Actions for / }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await dialog.getByLabel("Copy images before anyone pulls them").check();
  await dialog.getByLabel("Cooldown, days").fill("3");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("does not go with a cooldown").waitFor();
  await dialog.getByLabel("Cooldown, days").fill("");
  await dialog.getByText("does not go with max_bytes").waitFor();
  await dialog.getByLabel("Storage limit").fill("");
  await dialog.getByLabel("Which images").fill("team/.*");
  await dialog.getByLabel("Delete tags here that were deleted there").check();
  await dialog.getByText("It deletes.").waitFor();
  await dialog.getByRole("button", { name: "Save" }).click();
  const follows = page.getByRole("region", { name: "Copied without being pulled" });
  await follows.getByText("images matching team/.*, all tags").waitFor();
  await follows.getByText("Failed", { exact: true }).waitFor();
  await follows.getByText(/^1 of 2 images, /).waitFor();
  await follows.getByText("are deleted here").waitFor();

  // What stays and what did not come is there before anything is done.
  await page.getByRole("button", { name: "Detach" }).click();
  await dialog.getByText("1 image with 2 tags").waitFor();
  await dialog.getByText(/^1 image, /).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();

  hub.misbehave = () => false;
  await now.click();
  await follows.getByText("Succeeded", { exact: true }).waitFor();
  await follows.getByText("0 of 2 images, 0 of 3 tags").waitFor();
  await page.goto("/images/upstreams");
  await row.getByText("Answers", { exact: true }).waitFor();
  await row.getByText("Missing: 0 of 2 images, 0 of 3 tags").waitFor();

  await row.getByRole("link", { name: hub.registry }).click();
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByRole("button", { name: "Turn on" }).waitFor();
  await page.getByRole("button", { name: "Detach" }).click();
  await dialog.getByText("2 images with 3 tags").waitFor();
  await dialog.getByRole("button", { name: "Detach" }).click();
  await page.waitForURL(/\/images\/upstreams/);
  await eventually(async () => {
    const { registryUpstreams } = await platform.ok<{ registryUpstreams: unknown[] }>("GET", PATH);
    return registryUpstreams.length === 0;
  });
  assert.deepEqual(complaints, []);
});

test("a registry that fails says why, an edit keeps what it does not name, and a viewer reads why he may not", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const hub = await startFakeHub(t);
  hub.misbehave = ({ res }) => res.writeHead(500).end() !== undefined;
  const { uid: group } = await platform.group(platform.organization);
  const policy = { immutableTags: ["v.*"] };
  const { uid } = await platform.ok("POST", `${PATH}/${group}`, {
    registry: hub.registry,
    username: "robot",
    password: "secret",
    tagPolicy: policy,
    tagTtl: "90s",
    follow: {},
  });
  const address = `/images/upstream?uid=${uid}`;
  const page = await signedIn();
  const dialog = page.getByRole("dialog");
  await page.goto(address);
  await page.getByText("Failing", { exact: true }).waitFor();
  await page.getByText("set by the API or the command line").waitFor();
  await page.getByRole("button", { name: /^Actions for / }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  assert.equal(await dialog.getByLabel("Tag time to live, minutes").inputValue(), "1.5");
  await dialog.getByLabel("Denied names").fill("*/miner\n\n other/* ");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("*/miner, other/*").waitFor();
  const now = await platform.ok<{ username: string; tagTtl: string; tagPolicy: typeof policy; follow?: object }>(
    "GET",
    `${PATH}/${uid}`,
  );
  assert.deepEqual([now.username, now.tagTtl, now.tagPolicy.immutableTags], ["robot", "90s", policy.immutableTags]);
  assert.ok(now.follow);

  const viewer = await signedIn({
    identity: await platform.identity(group, "viewer"),
    options: { viewport: { width: 390, height: 844 } },
  });
  await viewer.goto(address);
  for (const action of ["Copy now", "Turn off", "Detach"]) {
    const button = viewer.getByRole("button", { name: action });
    await eventually(async () => (await button.getAttribute("aria-disabled")) === "true");
  }
  await viewer.goto(`/images/upstreams?group=${group}`);
  await viewer.getByText("Failing", { exact: true }).waitFor();
  assert.deepEqual(await unreadableOf(viewer), []);
  assert.deepEqual(complaints, []);
});
