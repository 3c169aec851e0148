import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("a person makes a group, an identity in it, a role, and binds it", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const page = await signedIn();
  await page.goto("/access/groups");
  await page.getByRole("button", { name: "Actions for acme", exact: true }).click();
  await page.getByRole("menuitem", { name: "New group below" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Not a name!");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText(/must match/).waitFor();
  await dialog.getByLabel("Name").fill("team");
  await dialog.getByLabel("Description").fill("those who build");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "team" }).click();
  await page.getByRole("heading", { name: "acme/team", level: 1 }).waitFor();

  await page.getByRole("main").getByRole("link", { name: "Directory" }).click();
  await page.getByRole("button", { name: "New identity" }).click();
  await dialog.getByLabel("Name").fill("builder");
  await dialog.getByLabel("Issuer", { exact: true }).fill("https://ci.example");
  await dialog.getByLabel("Subject", { exact: true }).fill("repo:acme/app");
  await dialog.getByLabel("Further claims").fill("ref=refs/heads/main");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "builder" }).click();
  await page.getByText("ref=refs/heads/main").waitFor();
  await page.getByText("It has no role that you can see").waitFor();
  const identity = new URL(page.url()).searchParams.get("uid") ?? "";
  const group = identity.slice(0, identity.lastIndexOf("/"));

  await page.goto(`/access/roles?group=${group}`);
  await page.getByRole("button", { name: "New role" }).click();
  await dialog.getByLabel("Name").fill("tagger");
  await dialog.getByRole("checkbox", { name: "create Tags" }).check();
  await dialog.getByRole("checkbox", { name: "see Repositories" }).check();
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "tagger" }).click();
  await page.getByText("Repositories").waitFor();

  await page.goto(`/access/identity?uid=${identity}`);
  await page.getByRole("button", { name: "Give a role" }).click();
  await dialog.getByLabel("Role", { exact: true }).selectOption({ label: "tagger" });
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("table").getByRole("link", { name: "tagger" }).waitFor();
  const { roles } = await platform.ok<{ roles: { capabilities: string[] }[] }>("GET", "/iam/v2/roles?name=tagger");
  assert.deepEqual(roles[0]?.capabilities.toSorted(), ["CAP_REPO_LIST", "CAP_TAG_CREATE"]);

  await page.getByRole("button", { name: /^Actions for tagger/ }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("It has no role that you can see").waitFor();
  assert.deepEqual(complaints, []);
});

test("a viewer sees what an owner does, and why it is not possible", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const viewer = await platform.identity(platform.organization, "viewer");
  const page = await signedIn({ identity: viewer });
  await page.goto(`/access/identities?group=${platform.organization}`);
  const make = page.getByRole("button", { name: "New identity" });
  await page.getByRole("heading", { name: "Identities" }).waitFor();
  await make.and(page.locator('[aria-description*="CAP_IAM_IDENTITY_CREATE"]')).waitFor();
  assert.equal(await make.getAttribute("aria-disabled"), "true");
  // A person can click it all the same; nothing happens.
  await make.click({ force: true });
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page
    .getByRole("button", { name: /^Actions for/ })
    .first()
    .click();
  const remove = page.getByRole("menuitem", { name: "Delete" });
  await remove.getByText(/CAP_IAM_IDENTITY_DELETE/).waitFor();
  await page.goto("/access/groups");
  await page
    .getByRole("button", { name: "New organization" })
    .and(page.locator('[aria-description*="Only administrators"]'))
    .waitFor();
  assert.deepEqual(complaints, []);
});

test("markup in descriptions is text", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const description = `<img src=x onerror="window.hostile=1"><script>window.hostile=1</script>`;
  const group = await platform.group(platform.organization, { name: "hostile", description });
  const claimMatch = { issuer: "https://ci.example", subject: description };
  const identity = await platform.ok("POST", `/iam/v2/identities/${group.uid}`, {
    name: "hostile",
    description,
    claimMatch,
  });
  const page = await signedIn();
  for (const path of ["/access/groups", `/access/group?uid=${group.uid}`, `/access/identity?uid=${identity.uid}`]) {
    await page.goto(path);
    await page.getByText(description).first().waitFor();
    assert.equal(await page.evaluate(() => (globalThis as { hostile?: number }).hostile), undefined);
    assert.equal(await page.locator("main img").count(), 0);
  }
  assert.deepEqual(complaints, []);
});
