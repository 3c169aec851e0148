import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator } from "playwright-core";
import { tarOf } from "../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../server/test/support/catalog/catalog.ts";
import { pushLayers } from "../../server/test/support/catalog/push.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

// What the columns of a tag's timeline are as high as: findings, sizes or packages, as the address says.
const FIRST_MS = Date.parse("2025-03-01T00:00:00Z");
const NOT_STORED = `sha256:${"7".repeat(64)}`;
const SIZE = /^\d[\d.]* KiB$/;

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_CATALOG_IMAGES: "1" });
  if (opened !== undefined) await pushVersions(opened);
});
after(() => opened?.close());

/** The tag moved three times: to what is not stored, to an image of one package, and to a larger one of three. */
async function pushVersions({ platform }: Console): Promise<void> {
  const repo = (await platform.repo(platform.organization, { name: "measured" })).uid;
  await platform.transact(async (tx) => {
    const move = { repo, tag: "1.0", time: FIRST_MS, digest: NOT_STORED, actor: platform.owner, reason: "push" };
    await tx.insertInto("tag_history").values(move).execute();
  });
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const target = { url: platform.url, token, name: "acme/measured" };
  for (const names of [["one"], ["one", "two", "three"]]) {
    const digest = await pushLayers(target, "1.0", [tarOf(names.map((name) => npmFile("app", name, "1.0.0")))]);
    const path = `/vulnerabilities/v2/repos/${repo}/digests/${digest}/coverage`;
    await eventually(async () => {
      const { images } = await platform.ok<{ images: { packages: number }[] }>("GET", path);
      return images[0]?.packages === names.length;
    });
  }
}

/** What stands above the column of each move, the oldest first. */
const textsOf = (slots: Locator, wanted: RegExp): Promise<string[]> =>
  slots.evaluateAll(
    (all, source) =>
      all.map((slot) => {
        const texts = [...(slot as unknown as Slot).querySelectorAll("text")].map(({ textContent }) => textContent);
        return texts.find((text) => new RegExp(source).test(text)) ?? "";
      }),
    wanted.source,
  );

interface Slot {
  querySelectorAll(selector: string): Iterable<{ textContent: string }>;
}

test("columns are as high as sizes or packages; what is not stored has no number, and not 0", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  await page.goto("/tag?name=acme/measured:1.0");
  const columns = page.getByRole("radiogroup", { name: "Columns" });
  const slots = page.getByRole("slider", { name: "Moment" }).locator("[data-move]");
  await columns.getByText("Size", { exact: true }).click();
  await page.waitForURL(/by=size/);
  await page.getByText("Sizes are those of a pull").waitFor();
  await eventually(async () => (await textsOf(slots, SIZE)).filter((text) => text !== "").length === 2);
  const [none, small, large] = await textsOf(slots, SIZE);
  assert.equal(none, "");
  assert.ok(parseFloat(small ?? "") < parseFloat(large ?? ""), `${small} and ${large}`);

  // By keyboard, and the same after the page is loaded again.
  await columns.getByRole("radio", { name: "Size" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/by=packages/);
  await page.reload();
  assert.ok(await columns.getByRole("radio", { name: "Packages" }).isChecked());
  await page.getByText("Packages are those of the platform").waitFor();
  await eventually(async () => (await textsOf(slots, /^\d$/)).join() === ",1,3");

  await columns.getByRole("radio", { name: "Packages" }).focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await page.waitForURL((url) => !url.searchParams.has("by"));
  await page.getByText("Findings are counted with today's data.").waitFor();
  assert.deepEqual(complaints, []);
});

test("whoever moves through the timeline by keys hears what is measured, or that it is not known", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  await page.goto("/tag?name=acme/measured:1.0&by=packages");
  const slider = page.getByRole("slider", { name: "Moment" });
  const hears = (wanted: RegExp): Promise<boolean> =>
    eventually(async () => wanted.test((await slider.getAttribute("aria-valuetext")) ?? ""));
  await hears(/, 3 packages$/);
  await slider.focus();
  await page.keyboard.press("ArrowLeft");
  await hears(/, 1 package$/);
  await page.keyboard.press("Home");
  await hears(/777777777777, packages not known$/);
  // The choice stays as the moment changes, and the moment as the choice does.
  const at = new URL(page.url()).searchParams;
  assert.equal(at.get("by"), "packages");
  assert.equal(at.get("at"), new Date(FIRST_MS).toISOString());
  await page.getByRole("radiogroup", { name: "Columns" }).getByText("Size", { exact: true }).click();
  await hears(/777777777777, size not known$/);
  assert.equal(new URL(page.url()).searchParams.get("at"), new Date(FIRST_MS).toISOString());
  await slider.focus();
  await page.keyboard.press("End");
  await hears(/, [\d.]+ KiB$/);
  assert.deepEqual(complaints, []);
});

test("beside the pointer stands what the column is as high as", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  await page.goto("/tag?name=acme/measured:1.0&by=size");
  const slots = page.getByRole("slider", { name: "Moment" }).locator("[data-move]");
  await eventually(async () => (await textsOf(slots, SIZE)).filter((text) => text !== "").length === 2);
  const pointAt = async (slot: Locator): Promise<void> => {
    const box = (await slot.boundingBox()) ?? assert.fail("the column has no place");
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  };
  await pointAt(slots.first());
  await page.getByText("size not known", { exact: true }).waitFor();
  await pointAt(slots.last());
  await page.getByText("size not known", { exact: true }).waitFor({ state: "detached" });
  await page.getByText("Move 3", { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});
