import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { ENGINE } from "../../server/test/support/database.ts";
import { type Console, needs, openConsole } from "./support/console.ts";
import { squeezedOf, unreadableOf } from "./support/narrow.ts";
import { placesOf, routePaths } from "./support/routes.ts";

// axe-core on every route: in light and dark colors, in colors of the reader's own, and at 200 % zoom. Source: WCAG 2.2
// AA.
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDE = { width: 1280, height: 900 };
// What a screen of 1,280 by 900 shows at 200 %.
const ZOOMED = { width: 640, height: 450 };
const TABLET = { width: 820, height: 1_180 };
const PHONE = { width: 390, height: 800 };

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
});
after(() => opened?.close());

/** What axe finds on the page as it is, one line each. */
async function complaintsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; help: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html ?? ""}`);
  });
}

/** By how many pixels the page is wider than the window, or a table wider than its frame, which cuts it. */
async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate(`Math.max(
    document.documentElement.scrollWidth - document.documentElement.clientWidth,
    ...[...document.querySelectorAll("table")]
      .filter((table) => table.closest(".visually-hidden") === null)
      .map((table) => table.offsetWidth - table.parentElement.clientWidth),
  )`);
}

const LIMIT = {
  timeout: 600_000,
  skip: ENGINE === "postgres" && "the pages are those of SQLite: MOORAGE_TEST_ENGINES=sqlite npm test -- accessible",
};

test("axe finds nothing on any route, and nothing is wider than the window", LIMIT, async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const places = await placesOf(console_.platform);
  const page = await console_.signedIn();
  // Otherwise each page would load the code of all others, and be idle no sooner.
  await page.addInitScript("window.requestIdleCallback = () => 0");
  for (const path of routePaths()) {
    await page.setViewportSize(WIDE);
    await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
    await page.goto(path + (places[path] ?? ""), { waitUntil: "networkidle" });
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    assert.equal(await overflowOf(page), 0, `${path}: wider than the window`);
    const found: Record<string, string[]> = { light: await complaintsOf(page) };
    await page.emulateMedia({ colorScheme: "dark" });
    found["dark"] = await complaintsOf(page);
    await page.setViewportSize(ZOOMED);
    found["at 200 %"] = await complaintsOf(page);
    await page.emulateMedia({ colorScheme: "dark", forcedColors: "active" });
    found["in forced colors, at 200 %"] = await complaintsOf(page);
    for (const [name, list] of Object.entries(found)) assert.deepEqual(list, [], `${path}, ${name}`);
    assert.equal(await overflowOf(page), 0, `${path}, at 200 %: wider than the window`);
    await page.setViewportSize(TABLET);
    assert.equal(await overflowOf(page), 0, `${path}, on a tablet: wider than the window`);
    await page.setViewportSize(PHONE);
    assert.equal(await overflowOf(page), 0, `${path}, on a phone: wider than the window`);
    await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
    assert.deepEqual(await unreadableOf(page), [], `${path}, on a phone`);
    assert.deepEqual(await squeezedOf(page), [], `${path}, on a phone`);
  }
  assert.deepEqual(console_.complaints, []);
});

test("axe finds nothing on the sign-in of an organization, and on forms that are typed into", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform } = console_;
  const { organization } = platform;
  await platform.ok("POST", `/iam/v2/identityProviders/${organization}`, {
    name: "okta",
    oidc: { issuer: "https://okta.example.com", clientId: "moorage" },
  });
  const signIn = await console_.signedOut();
  await signIn.goto("/login?organization=acme");
  await signIn.getByRole("button", { name: "Continue with okta" }).waitFor();
  const invites = await console_.signedIn();
  await invites.goto(`/access/invites?group=${organization}`);
  await invites.getByRole("button", { name: "New invite" }).click();
  await invites.getByRole("radio", { name: "Editor" }).check();
  const machines = await console_.signedIn();
  await machines.goto(`/access/machines?group=${organization}`);
  await machines.getByRole("button", { name: "New machine" }).click();
  await machines.getByLabel("A different issuer or audience").check();
  await platform.repo(organization, { name: "gated" });
  const gate = await console_.signedIn();
  await gate.goto("/repo/settings?name=acme/gated&part=gate");
  await gate.getByLabel("Block images with findings").check();
  await gate.getByText("0 images with findings that count").waitFor();
  const tags = await console_.signedIn();
  await tags.goto("/repo?name=acme/gated&status=deprecated&hide=attached");
  await tags.getByRole("button", { name: "Remove the filter Hide" }).waitFor();
  for (const page of [signIn, invites, machines, gate, tags])
    for (const colorScheme of ["light", "dark"] as const)
      for (const size of [WIDE, PHONE]) {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        assert.deepEqual(await complaintsOf(page), [], `${page.url()} ${colorScheme} ${size.width}`);
      }
});
