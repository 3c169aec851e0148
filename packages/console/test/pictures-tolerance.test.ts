import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Browser } from "playwright-core";
import { needs, newPage, openBrowser } from "./support/console.ts";
import { ANOTHER_BROWSER, difference, fileOf, SAME_BROWSER, shrunk } from "./support/pictures/compare.ts";
import { STEADY_FLAGS, STEADY_OPTIONS } from "./support/pictures/steady.ts";

// Pictures that are compared: what moved is found, the edges of letters of another browser are not.

const FONT = join(
  import.meta.dirname,
  "../../../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2",
);
const ROWS = Array.from({ length: 12 }, (_, at) => `<tr><td>acme/web:1.${at}.0</td><td>${at} critical</td></tr>`);
const PAGE = `<style>
  @font-face { font-family: Inter; src: url(data:font/woff2;base64,${readFileSync(FONT).toString("base64")}) }
  body { margin: 32px; font: 13px/20px Inter; color: #10161d }
  table { border-collapse: collapse; width: 600px } td { padding: 9px 12px; border-bottom: 1px solid #e4e8ed }
  button { position: relative; top: var(--by, 0); font: 600 13px/20px Inter; padding: 5px 12px; border-radius: 6px;
    border: 1px solid #cdd4dc; background: #fff }
</style><h1>Images</h1><button>New image</button><table>${ROWS.join("")}</table>`;

const browser = await openBrowser({ flags: STEADY_FLAGS, whole: true });
after(() => browser?.close());

interface Drawn {
  /** By how many pixels the button moved. */
  by?: number;
  /** Letters that another version of the browser draws with stronger edges, in the same places. */
  isStronger?: boolean;
}

async function taken(ours: Browser, { by = 0, isStronger = false }: Drawn): Promise<Buffer> {
  const page = await newPage(ours, "about:blank", { ...STEADY_OPTIONS, viewport: { width: 1440, height: 900 } });
  await page.setContent(PAGE);
  const stroke = isStronger ? "0.35px" : "0";
  await page.evaluate(`(async () => {
    document.body.style.setProperty("--by", "${by}px");
    document.body.style.setProperty("-webkit-text-stroke", "${stroke}");
    await document.fonts.ready;
  })()`);
  const screen = await page.screenshot();
  await page.context().close();
  return screen;
}

test("the browser that a picture was accepted with finds what moved by one pixel", async (t) => {
  const ours = needs(t, browser);
  if (ours === undefined) return;
  const accepted = fileOf(shrunk(await taken(ours, {})));
  assert.equal(difference(accepted, shrunk(await taken(ours, {})), SAME_BROWSER), undefined);
  const found = difference(accepted, shrunk(await taken(ours, { by: 1 })), SAME_BROWSER);
  assert.match(found?.words ?? "the same", /^\d+ of 324000 pixels$/);
});

test("another browser's letters are tolerated, and what moved by two pixels is found", async (t) => {
  const ours = needs(t, browser);
  if (ours === undefined) return;
  const accepted = fileOf(shrunk(await taken(ours, {})));
  const letters = shrunk(await taken(ours, { isStronger: true }));
  assert.notEqual(difference(accepted, letters, SAME_BROWSER), undefined, "the letters are not drawn otherwise");
  assert.equal(difference(accepted, letters, ANOTHER_BROWSER), undefined);
  const found = difference(accepted, shrunk(await taken(ours, { by: 2 })), ANOTHER_BROWSER);
  assert.match(found?.words ?? "the same", /^\d+ of 324000 pixels$/);
});
