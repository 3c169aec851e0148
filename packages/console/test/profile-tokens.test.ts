import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushImage } from "../../server/test/support/image.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("a person makes a token, copies the line for docker, and revokes it", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  await pushImage(platform, "acme/app", "1.0");
  const actions = async (password: string): Promise<string[] | number> => {
    const authorization = `Basic ${Buffer.from(`any:${password}`).toString("base64")}`;
    const path = "/token?scope=repository:acme/app:pull,push";
    const { status, body } = await platform.call("GET", path, { headers: { authorization } });
    if (status !== 200) return status;
    const claims = Buffer.from(String(body["token"]).split(".")[1] ?? "", "base64url").toString();
    return (JSON.parse(claims) as { access: { actions: string[] }[] }).access[0]?.actions ?? [];
  };
  const page = await signedIn();
  await page.goto("/");
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitem", { name: "Personal tokens" }).click();
  await page.getByText("No tokens yet").waitFor();
  await page.getByRole("button", { name: "New token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("is required").waitFor();
  await dialog.getByLabel("Name").fill("docker on the laptop");
  await dialog.getByLabel("Group").selectOption({ label: "acme" });
  await dialog.getByRole("button", { name: "Create" }).click();
  const ready = page.getByRole("region", { name: "The new token" });
  const line = await ready.getByRole("group", { name: "Log docker in" }).innerText();
  const host = new URL(platform.url).host;
  const [, token = ""] =
    /^printf %s '(mrg_pat_[A-Za-z0-9]{40})' \| docker login (\S+) -u any --password-stdin$/.exec(line) ?? [];
  assert.ok(token !== "" && line.includes(` ${host} `), line);
  assert.deepEqual(await actions(token), ["pull"]);
  await page.getByRole("cell", { name: "Pull", exact: true }).waitFor();
  await page.getByRole("cell", { name: "acme", exact: true }).waitFor();

  for (const [client, label, words] of [
    ["podman", "Log podman in", `podman login ${host}`],
    ["helm", "Log helm in", `helm registry login ${host}`],
    ["npm", "Store the token", `//${host}/npm/acme/:_authToken=${token}`],
    ["pip", "Install from here", `${token}@${host}/pypi/acme/simple/`],
    ["Maven", "In pom.xml, below repositories", `${host}/maven/acme/-/`],
    ["Kubernetes", "In the pod's spec", "imagePullSecrets"],
    ["GitHub Actions", "A step of the job", "secrets.MOORAGE_TOKEN"],
    ["GitLab CI", "In .gitlab-ci.yml", "before_script"],
    ["Token only", "The password, with any user name", token],
  ] as const) {
    await ready.getByRole("button", { name: client, exact: true }).click();
    const text = await ready.getByRole("group", { name: label }).innerText();
    assert.ok(text.includes(words), `${client}: ${text}`);
    assert.ok((await ready.getByRole("button", { name: `Copy ${label}` }).count()) === 1, client);
  }
  await ready.getByRole("button", { name: "I have copied it" }).click();
  assert.equal(await page.getByText(token).count(), 0, "it is not shown again");
  await page.getByRole("button", { name: "Revoke docker on the laptop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No tokens yet").waitFor();
  assert.equal(await actions(token), 401);
  assert.deepEqual(complaints, []);
});

test("an expired token is shown as such, and owners revoke those of their people", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const nowMs = Date.now();
  const owner = platform.owner;
  const row = { identity: owner, capabilities: "[]", scopes: "[]", create_time: nowMs, last_used_time: 0 };
  await platform.transact(async (tx) => {
    await tx
      .insertInto("personal_tokens")
      .values([
        {
          ...row,
          uid: `${owner}/0000000000000001`,
          hash: "1",
          name: "old script",
          hint: "c91d",
          expiration_time: nowMs - 1000,
        },
        {
          ...row,
          uid: `${owner}/0000000000000002`,
          hash: "2",
          name: "homelab",
          hint: "02be",
          expiration_time: nowMs + 86_400_000,
        },
      ])
      .execute();
  });
  const page = await signedIn();
  await page.goto("/access/personal-tokens");
  await page.getByText("expired just now").waitFor();
  await page.getByText("mrg_pat_…02be").waitFor();
  await page.getByRole("cell", { name: "owner" }).first().waitFor();
  for (const [verb, name] of [
    ["Remove", "old script"],
    ["Revoke", "homelab"],
  ]) {
    await page.getByRole("button", { name: `${verb} ${name}` }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: `${verb}` })
      .click();
    // What says that the one before is done is a dialog, too.
    const asked = page.getByRole("dialog").filter({ has: page.getByRole("button", { name: "Cancel" }) });
    await asked.waitFor({ state: "detached" });
  }
  await page.getByText("No personal tokens").waitFor();
  assert.deepEqual(complaints, []);
});
