import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushImage } from "../../server/test/support/image.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("a pull token that is made here pulls, and after it is revoked no more", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  await pushImage(platform, "acme/app", "1.0");
  const pull = async (user: string, password: string): Promise<number> => {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
    const asked = await platform.call("GET", "/token?scope=repository:acme/app:pull", { headers: { authorization } });
    if (asked.status !== 200) return asked.status;
    const token = asked.body["token"] as string;
    return (await platform.call("GET", "/v2/acme/app/manifests/1.0", { token })).status;
  };
  const page = await signedIn();
  await page.goto(`/access/pull-tokens?group=${platform.organization}`);
  await page.getByText("No pull tokens here").waitFor();
  await page.getByRole("button", { name: "New pull token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("cluster-1");
  await dialog.getByRole("button", { name: "Create" }).click();
  const command = await dialog.getByRole("group", { name: "log in" }).innerText();
  const [, password = "", registry = "", user = ""] =
    /^printf %s '(.+)' \| docker login (\S+) --username (\S+) --password-stdin$/.exec(command) ?? [];
  assert.equal(registry, new URL(platform.url).host);
  assert.equal(await pull(user, password), 200);

  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("link", { name: "cluster-1" }).waitFor();
  assert.equal(await page.getByText(password).count(), 0);
  await page.getByRole("button", { name: "Actions for cluster-1" }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No pull tokens here").waitFor();
  assert.notEqual(await pull(user, password), 200);
  assert.deepEqual(complaints, []);
});

test("an invite's code is shown once, and gives whoever accepts it the role", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const page = await signedIn();
  await page.goto(`/access/invites?group=${platform.organization}`);
  await page.getByRole("button", { name: "New invite" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: "Viewer" }).check();
  await dialog.getByText("30 days").click();
  await dialog.getByRole("button", { name: "Create" }).click();
  const code = (await dialog.getByRole("group", { name: "code" }).innerText()).trim();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("cell", { name: "viewer" }).waitFor();

  const guest = await platform.identity(platform.organization);
  const theirs = await signedIn({ identity: guest });
  await theirs.goto("/access/invites");
  await theirs.getByRole("button", { name: "Accept an invite" }).click();
  await theirs.getByRole("dialog").getByLabel("Code").fill(code);
  await theirs.getByRole("dialog").getByRole("button", { name: "Accept" }).click();
  await theirs.getByText("You now have the invite's role").first().waitFor();
  await theirs.getByLabel("Group").selectOption({ label: "acme" });
  await theirs.getByRole("cell", { name: "viewer" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("a document is accepted for a group", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const page = await signedIn();
  await page.goto(`/access/terms?group=${platform.organization}&document=privacy`);
  await page.getByText("Nothing has been accepted yet").waitFor();
  await page.getByRole("button", { name: "Accept a document" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Accept" }).click();
  await page.getByRole("cell", { name: "privacy" }).waitFor();
  assert.deepEqual(complaints, []);
});
