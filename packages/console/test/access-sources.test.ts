import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("an identity provider is registered, and a group there is given a role", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const page = await signedIn();
  await page.goto(`/access/providers?group=${platform.organization}`);
  await page.getByRole("button", { name: "New provider" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("login");
  await dialog.getByLabel("Issuer").fill("https://login.example.com");
  await dialog.getByLabel("Client id").fill("moorage");
  await dialog.getByLabel("Client secret").fill("a secret of the client");
  await dialog.getByLabel("Groups claim").fill("groups");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByText("/oauth/callback/").waitFor();
  assert.equal(await page.getByText("a secret of the client").count(), 0);

  await page.getByRole("button", { name: "Actions for login" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await dialog.getByLabel("Description").fill("people of the house");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const { identityProviders } = await platform.ok<{ identityProviders: { description: string; oidc: object }[] }>(
    "GET",
    "/iam/v2/identityProviders?name=login",
  );
  assert.equal(identityProviders[0]?.description, "people of the house");

  await page.getByRole("link", { name: "Mappings", exact: true }).click();
  await page.getByRole("button", { name: "New mapping" }).click();
  await dialog.getByLabel("Group there").fill("builders");
  await dialog.getByLabel("Role").selectOption({ label: "registry.push" });
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("cell", { name: "builders", exact: true }).waitFor();
  await page.getByRole("cell", { name: "registry.push", exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("cloud accounts belong to a group, and another field of theirs is kept when one is changed", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const azure = {
    tenantId: "11111111-2222-3333-4444-555555555555",
    clientIds: { builds: "66666666-7777-8888-9999-000000000000" },
  };
  const group = await platform.group(platform.organization, { name: "cloud" });
  await platform.ok("POST", `/iam/v2/accountAssociations/${group.uid}`, { name: "clouds", azure });
  const page = await signedIn();
  await page.goto("/access/associations");
  await page.getByRole("button", { name: "Actions for clouds" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amazon account").fill("12");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("must be an account number of 12 digits").waitFor();
  await dialog.getByLabel("Amazon account").fill("123456789012");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("Amazon 123456789012").waitFor();
  const after_ = await platform.ok<{ azure: typeof azure }>("GET", `/iam/v2/accountAssociations/${group.uid}`);
  assert.deepEqual(after_.azure, azure);
  assert.deepEqual(complaints, []);
});
