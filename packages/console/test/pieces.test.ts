import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { build, preview, type PreviewServer } from "vite";
import { ENGINE } from "../../server/test/support/database.ts";
import { needs, newPage, openBrowser } from "./support/console.ts";

// The page of npm run console:pieces, with every piece in all of its states.
const ROOT = join(import.meta.dirname, "..");
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { width: 390, height: 844 };
const SKIP = { skip: ENGINE === "postgres" && "it has no server: MOORAGE_TEST_ENGINES=sqlite npm test -- pieces" };

let browser: Browser | undefined;
let server: PreviewServer | undefined;
let folder = "";
before(async () => {
  if (ENGINE === "postgres") return;
  browser = await openBrowser();
  if (browser === undefined) return;
  folder = await mkdtemp(join(tmpdir(), "pieces-"));
  const options = { root: ROOT, logLevel: "error" as const };
  const input = join(ROOT, "pieces.html");
  await build({ ...options, build: { outDir: folder, rolldownOptions: { input } } });
  server = await preview({ ...options, build: { outDir: folder }, preview: { port: 0, host: "127.0.0.1" } });
});
after(async () => {
  await browser?.close();
  await server?.close();
  if (folder !== "") await rm(folder, { recursive: true, maxRetries: 10 });
});

/** What axe finds on the page as it is, one line each. */
async function complaintsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""}`);
  });
}

test(
  "axe finds nothing on any piece: light, dark, forced colors, a phone, and what lies over a page",
  SKIP,
  async (t) => {
    const opened = needs(t, browser);
    if (opened === undefined) return;
    const page = await newPage(opened, server?.resolvedUrls?.local[0] ?? "");
    await page.goto("/pieces.html");
    await page.getByRole("heading", { level: 1 }).waitFor();
    const found: Record<string, string[]> = { light: await complaintsOf(page) };
    await page.emulateMedia({ colorScheme: "dark" });
    found["dark"] = await complaintsOf(page);
    await page.emulateMedia({ colorScheme: "light", forcedColors: "active" });
    found["forced colors"] = await complaintsOf(page);
    await page.emulateMedia({ forcedColors: "none" });
    for (const name of ["Dialog", "Drawer", "Ask first"]) {
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("dialog").waitFor();
      found[name] = await complaintsOf(page);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await page.setViewportSize(PHONE);
    found["a phone"] = await complaintsOf(page);
    for (const [name, list] of Object.entries(found)) assert.deepEqual(list, [], name);
    const over = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(over, 0, "wider than the window of a phone");
  },
);

test("the outline of what has the focus in a dialog is whole", SKIP, async (t) => {
  const opened = needs(t, browser);
  if (opened === undefined) return;
  const page = await newPage(opened, server?.resolvedUrls?.local[0] ?? "");
  await page.goto("/pieces.html");
  await page.getByRole("button", { name: "Dialog", exact: true }).click();
  const field = page.getByRole("dialog").getByLabel("Name");
  await field.focus();
  // What scrolls cuts off what is nearer to its edges than the outline is wide.
  const space = await field.evaluate((element) => {
    const scrolled = element.closest("[class*=body]") ?? element;
    const [inner, outer] = [element.getBoundingClientRect(), scrolled.getBoundingClientRect()];
    return Math.min(inner.left - outer.left, outer.right - inner.right);
  });
  assert.ok(space >= 4, `${space} px`);
});

test("the pieces are no part of what is shipped", SKIP, (t) => {
  if (needs(t, browser) === undefined) return;
  assert.equal(existsSync(join(ROOT, "dist/index.html")), true);
  assert.equal(existsSync(join(ROOT, "dist/pieces.html")), false);
});
