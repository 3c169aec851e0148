import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("a machine is made by the form of its system, and its lines are shown to copy", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const page = await signedIn();
  await page.goto(`/access/machines?group=${platform.organization}`);
  await page.getByText("No machines here").waitFor();
  await page.getByRole("button", { name: "New machine" }).click();
  const dialog = page.getByRole("dialog");
  // The repository and the branch, and not the issuer and the subject.
  assert.equal(await dialog.getByLabel("Issuer", { exact: true }).count(), 0);
  await dialog.getByRole("group", { name: "Role in acme" }).waitFor();
  await dialog.getByLabel("Name", { exact: true }).fill("ci");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("is required: owner/name of one repository").waitFor();
  await dialog.getByLabel("Repository", { exact: true }).fill("*/app");
  await dialog.getByLabel("Branch", { exact: true }).fill("main");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("a wildcard would let in what others make").waitFor();

  await dialog.getByLabel("Repository", { exact: true }).fill("acme/app");
  await dialog.getByText("of jobs of the repository acme/app on the branch main").waitFor();
  await dialog.getByText("Whoever gets the name acme/app after it was given up can log in").waitFor();
  await dialog.getByLabel("Repository ID").fill("71");
  await dialog.getByText("Whoever gets the name").waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "ci was created" }).waitFor();
  const workflow = await page.getByRole("group", { name: "lines that log in" }).innerText();
  const user = (await page.getByRole("group", { name: "user name" }).innerText()).trim();
  assert.match(workflow, /id-token: write/);
  assert.ok(workflow.includes(`docker login ${new URL(platform.url).host} --username ${user} --password-stdin`));
  await page.getByRole("button", { name: "Copy lines that log in" }).waitFor();
  const { claimMatch } = await platform.ok<{ claimMatch: { claims: object; subjectPattern: string } }>(
    "GET",
    `/iam/v2/identities/${user}`,
  );
  assert.equal(claimMatch.subjectPattern, "repo:acme(@[0-9]+)?/app(@71)?:ref:refs/heads/main");
  assert.deepEqual(claimMatch.claims, { repository: "acme/app", repository_id: "71", ref: "refs/heads/main" });
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("link", { name: "ci", exact: true }).click();
  await page.getByText("registry.push").first().waitFor();
  // GitHub is not there for the test: that its keys cannot be read is said, and is no fault of the page.
  assert.deepEqual(complaints, []);
});

test("other machines are described by claims, as they are", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const page = await signedIn({ options: { viewport: { width: 390, height: 844 } } });
  await page.goto(`/access/machines?group=${platform.organization}`);
  await page.getByRole("button", { name: "New machine" }).click();
  const dialog = page.getByRole("dialog");
  await dialog
    .getByRole("group", { name: "Where it runs" })
    .getByRole("radio", { name: /^Other/ })
    .check();
  await dialog.getByLabel("Name", { exact: true }).fill("nightly");
  await dialog.getByLabel("Issuer", { exact: true }).fill("https://ci.example.com");
  await dialog.getByLabel("Subject", { exact: true }).fill("nightly");
  await dialog.getByRole("radio", { name: /^Pulls registry\.pull/ }).check();
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "nightly" }).waitFor();
  const width = await page.evaluate<number>("document.documentElement.scrollWidth");
  assert.ok(width <= 390, `the page is ${width} pixels wide`);
  assert.deepEqual(complaints, []);
});

test("an issuer is asked for where there is no usual one, or on demand; what is hidden again does not count", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const page = await signedIn();
  await page.goto(`/access/machines?group=${platform.organization}`);
  await page.getByRole("button", { name: "New machine" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("server");
  await dialog.getByLabel("Repository", { exact: true }).fill("acme/app");
  await dialog.getByLabel("Branch", { exact: true }).fill("main");
  await dialog.getByLabel("A different issuer or audience").check();
  await dialog.getByLabel("Issuer", { exact: true }).fill("https://git.example.com/_services/token");
  await dialog.getByText(/^Accepts tokens of .*git\.example\.com/).waitFor();
  await dialog.getByLabel("A different issuer or audience").uncheck();
  await dialog.getByText(/^Accepts tokens of .*git\.example\.com/).waitFor({ state: "detached" });
  await dialog.getByRole("radio", { name: /^None yet/ }).check();
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "server was created" }).waitFor();
  const { identities } = await platform.ok<{ identities: { claimMatch: { issuer: string } }[] }>(
    "GET",
    "/iam/v2/identities?name=server",
  );
  assert.deepEqual(
    identities.map(({ claimMatch }) => claimMatch.issuer),
    ["https://token.actions.githubusercontent.com"],
  );
  await page.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: "New machine" }).click();
  await dialog.getByRole("radio", { name: /^Kubernetes/ }).check();
  await dialog.getByLabel("Issuer", { exact: true }).waitFor();
  await dialog.getByLabel("A different audience").check();
  await dialog.getByLabel("Audience", { exact: true }).waitFor();
  await dialog.getByRole("radio", { name: /^Azure/ }).check();
  await dialog.getByLabel("Audience", { exact: true }).waitFor();
  assert.equal(await dialog.getByLabel("A different").count(), 1);
  assert.deepEqual(complaints, []);
});
