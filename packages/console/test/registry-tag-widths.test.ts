import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushImage } from "../../server/test/support/image.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

const WIDTHS = [1920, 1600, 1599, 1440, 1439, 1280, 1279, 1024, 1001, 768, 390];

/** Run in the page: pixels that are cut off at the end of the list, and the lines that the link of the tag has. */
const LAYOUT = `(() => {
  const table = document.querySelector("table[aria-label=Tags]");
  const link = table.querySelector("a[href^='/tag?']");
  return [Math.max(table.scrollWidth - table.parentElement.clientWidth, 0), Math.round(link.offsetHeight / 24)].join();
})()`;

test("a tag as long as those of signatures has one line, and no column is cut off, at any width", async (t) => {
  const { platform, signedIn, complaints } = needs(t, opened) ?? {};
  if (platform === undefined || signedIn === undefined) return;
  const long = `sha256-${"0123456789abcdef".repeat(4)}.sig`;
  await pushImage(platform, "acme/long", long);
  const page = await signedIn();
  await page.setViewportSize({ width: 1920, height: 900 });
  await page.goto("/repo?name=acme/long");
  const tag = page.getByRole("link", { name: long });
  await tag.waitFor();
  assert.equal(await tag.getByTitle(long).count(), 1, "all of the name is under the pointer");
  await page.getByRole("table", { name: "Tags" }).getByText("amd64").waitFor();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await eventually(async () => (await page.evaluate<string>(LAYOUT)) === "0,1", { limitMs: 30_000 }).catch(async () =>
      assert.fail(`${width} pixels: ${await page.evaluate<string>(LAYOUT)}`),
    );
  }
  assert.deepEqual(complaints, []);
});
