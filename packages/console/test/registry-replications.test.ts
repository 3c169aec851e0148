import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../server/test/support/eventually.ts";
import { pushImage } from "../../server/test/support/image.ts";
import { startInstallation } from "../../server/test/support/installation.ts";
import { LOOPBACK } from "../../server/test/support/mirror.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ ...LOOPBACK, MOORAGE_WORK_POLL: "20ms" });
});
after(() => opened?.close());

test("a replication says that nothing matches, what is blocked and why, and overwrites after a warning", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const there = await startInstallation(t);
  const other = await there.pushImage("acme/copy/app", "1", "somebody else's");
  const { uid: group, name } = await platform.group(platform.organization);
  await platform.repo(group, { name: "app" });
  await pushImage(platform, `acme/${name}/app`, "1");
  const page = await signedIn();
  const dialog = page.getByRole("dialog");

  await page.goto("/images");
  await page.getByRole("link", { name: "Replications" }).click();
  await page.goto(`/images/replications?group=${group}`);
  await page.getByText("No replications here").waitFor();
  await page.getByRole("button", { name: "New replication" }).click();
  await dialog.getByLabel("Name", { exact: true }).fill("archive");
  await dialog.getByLabel("Destination", { exact: true }).fill(`${there.url}/acme/copy`);
  await dialog.getByLabel("Which tags").fill("release-.*");
  await dialog.getByLabel("User name there").fill("robot");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("is needed with a user name").waitFor();
  await dialog.getByLabel("Password there").fill(there.platform);
  await dialog.getByRole("button", { name: "Create" }).click();
  // The list looks again by itself as long as nothing was compared.
  const row = page.getByRole("table", { name: "Replications" }).getByRole("row", { name: /archive/ });
  await row.getByText("Nothing matches", { exact: true }).waitFor();
  await row.getByText("images, tags matching release-.*").waitFor();

  await page.getByRole("link", { name: "archive" }).click();
  await page.getByText("No tag has matched so far").waitFor();
  const edit = async (): Promise<void> => {
    await page.getByRole("button", { name: "Actions for archive" }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
  };
  await edit();
  await dialog.getByLabel("Which tags").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("Blocked", { exact: true }).first().waitFor();
  await page.getByLabel("State", { exact: true }).selectOption("blocked");
  const items = page.getByRole("table", { name: "Tags" });
  await items.getByRole("link", { name: "app:1" }).waitFor();
  await items.getByText(/which the replication did not push/).waitFor();
  await page.getByLabel("State", { exact: true }).selectOption("stopped");
  await page.getByText("No tag is stopped").waitFor();
  await page.getByRole("button", { name: "Remove the filter State" }).click();

  await edit();
  assert.equal(await dialog.getByText("It overwrites.").count(), 0);
  await dialog.getByLabel("Tags there that it did not push").selectOption({ label: "Overwrite" });
  await dialog.getByText("It overwrites.").waitFor();
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("is overwritten", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByText("Up to date", { exact: true }).waitFor();
  await items.getByText("Done", { exact: true }).waitFor();
  const now = await there.ask("HEAD", "/v2/acme/copy/app/manifests/1", { token: there.registry });
  assert.notEqual(now.headers.get("docker-content-digest"), other.digest);

  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Nothing is pushed until it is resumed").waitFor();
  const run = page.getByRole("button", { name: "Run now" });
  assert.equal(await run.getAttribute("aria-disabled"), "true");
  await page.getByRole("button", { name: "Resume" }).click();
  await eventually(async () => (await run.getAttribute("aria-disabled")) !== "true");
  await page.getByRole("button", { name: "Actions for archive" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/images\/replications/);
  assert.deepEqual(complaints, []);
});

test("a replication that follows deletions asks before it deletes many, and a viewer reads why he may not", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const { uid: group } = await platform.group(platform.organization);
  const { uid } = await platform.ok("POST", `/registry/v2/replications/${group}`, {
    name: "follows",
    destination: "registry.example.com/archive",
    deletions: "REPLICATION_DELETIONS_FOLLOW",
  });
  const address = `/images/replication?uid=${uid}`;
  const page = await signedIn();
  await page.goto(address);
  await page.getByText("Tags are compared only when run manually").waitFor();
  await page.getByRole("button", { name: "Delete more than a tenth" }).click();
  await page.getByRole("dialog").getByText("This cannot be undone").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();

  const viewer = await signedIn({ identity: await platform.identity(group, "viewer") });
  await viewer.goto(address);
  await viewer.getByText("is deleted there").waitFor();
  const stop = viewer.getByRole("button", { name: "Stop" });
  await eventually(async () => (await stop.getAttribute("aria-disabled")) === "true");
  assert.deepEqual(complaints, []);
});

test("a replication to another Moorage pushes as an identity there, and the form says what that must accept", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const { uid: group } = await platform.group(platform.organization);
  const page = await signedIn();
  const dialog = page.getByRole("dialog");
  await page.goto(`/images/replications?group=${group}`);
  await page.getByRole("button", { name: "New replication" }).click();
  await dialog.getByLabel("Name", { exact: true }).fill("there");
  await dialog.getByText("Identity of a Moorage").click();
  await dialog.getByLabel("Destination", { exact: true }).fill("registry.example.com/copy");
  await dialog.getByText(`replication:${group}`).waitFor();
  await dialog.getByText("https://registry.example.com", { exact: true }).waitFor();
  assert.equal(await dialog.getByLabel("Password there").count(), 0);
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("Enter the identity there").waitFor();
  await dialog.getByLabel("Identity there").fill("not a uid");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("must be the uid of an identity").waitFor();
  await dialog.getByLabel("Identity there").fill(platform.owner);
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "there", exact: true }).click();
  await page.getByText(platform.owner, { exact: true }).waitFor();

  // With a user name again it has no identity.
  await page.getByRole("button", { name: "Actions for there" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await dialog.getByText("User name and password").click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("User name there", { exact: true }).waitFor();
  const { replications } = await platform.ok<{ replications: { destinationIdentity: string }[] }>(
    "GET",
    "/registry/v2/replications?name=there",
  );
  assert.deepEqual(
    replications.map(({ destinationIdentity }) => destinationIdentity),
    [""],
  );
  assert.deepEqual(complaints, []);
});
