import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Console, needs, openConsole } from "./support/console.ts";

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
