import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Console, needs, noteComplaints, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("a person signs in with a token, sees the organizations, and signs out", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  await page.getByRole("heading", { name: "First steps" }).waitFor();
  await page.getByText("acme", { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.goto("/");
  await page.waitForURL("/login?to=/");
  assert.deepEqual(complaints, []);
});

test("the organization of the last sign-in has a button for each provider, the one that was used first", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, complaints } = console_;
  for (const name of ["gitlab", "okta"])
    await platform.ok("POST", `/iam/v2/identityProviders/${platform.organization}`, {
      name,
      oidc: { issuer: "https://login.example.com", clientId: name },
    });
  const page = await console_.signedOut();
  noteComplaints(page, complaints);
  // Nothing leaves this machine; where the browser was sent is enough.
  const sent: string[] = [];
  await page.route("**/sign-in?identity_provider=*", async (route) => {
    sent.push(route.request().url());
    await route.fulfill({ contentType: "text/html", body: "<h1>The provider</h1>" });
  });
  await page.goto("/login?to=/images");
  await page.getByLabel("Organization").fill("nobody");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("No organization of that name has an identity provider").waitFor();
  await page.getByLabel("Organization").fill("acme");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Sign in to acme" }).waitFor();
  const buttons = page.getByRole("button", { name: /^Continue with/ });
  assert.deepEqual(await buttons.allTextContents(), ["Continue with gitlab", "Continue with okta"]);
  await page.getByRole("button", { name: "Continue with okta" }).click();
  await page.getByText("The provider").waitFor();
  assert.equal(new URL(sent[0] ?? "").searchParams.get("return_to"), "/images");

  await page.goto("/login");
  await page.getByRole("heading", { name: "Sign in to acme" }).waitFor();
  assert.deepEqual(await buttons.allTextContents(), ["Continue with okta", "Continue with gitlab"]);
  // The field for a token is there without a click.
  await page.getByLabel("Access token").fill("not a token");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Other organization" }).click();
  await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  assert.equal(await page.getByLabel("Organization").inputValue(), "");
  assert.deepEqual(complaints, []);
});

test("an address can name the organization; one without providers leaves the other ways", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const page = await console_.signedOut();
  await page.goto("/login?organization=acme");
  await page.getByRole("heading", { name: "Sign in to acme" }).waitFor();
  await page.goto("/login?organization=nobody");
  await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  assert.equal(await page.getByLabel("Organization").inputValue(), "nobody");
  await page.route("**/oauth/providers?*", (route) => route.fulfill({ status: 503, body: "{}" }));
  await page.goto("/login?organization=acme");
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Organization").inputValue(), "acme");
});
