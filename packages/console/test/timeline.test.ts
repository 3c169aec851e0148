import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { openTaggedRepo } from "../../server/test/support/tagged-repo.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

// The timeline of a tag: its slider by keyboard and pointer, its zoom, and tags that are unlike others.
const HOUR_MS = 3_600_000;
const FIRST_MS = Date.parse("2025-03-01T00:00:00Z");

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

const digestOf = (at: number): string => `sha256:${shortOf(at)}${"0".repeat(52)}`;
/** What the page shows of it. */
const shortOf = (at: number): string => String(at).padStart(12, "0");

/** Opens the page of a tag that moved once an hour; an empty digest is a deletion. */
async function openTag({ signedIn, platform }: Console, name: string, digests: readonly string[]): Promise<Timeline> {
  const repo = await openTaggedRepo(platform, name);
  await platform.transact(async (tx) => {
    for (const [at, digest] of digests.entries())
      await tx
        .insertInto("tag_history")
        .values({ repo: repo.uid, tag: "1.0", time: timeOf(at), digest, actor: platform.owner, reason: "push" })
        .execute();
  });
  const page = await signedIn();
  await page.goto(`/tag?name=acme/${name}:1.0`);
  const slider = page.getByRole("slider", { name: "Moment" });
  await slider.waitFor();
  return { page, slider };
}

interface Timeline {
  page: Page;
  slider: Locator;
}

const timeOf = (at: number): number => FIRST_MS + at * HOUR_MS;

/** Waits until the slider stands at that moment. */
async function standsAt({ page }: Timeline, timeMs: number): Promise<void> {
  await page.locator(`[aria-label=Moment][aria-valuenow="${timeMs}"]`).waitFor();
}

test("keys lead from move to move, ten moves, to the first one and to now", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const timeline = await openTag(
    console_,
    "keys",
    Array.from({ length: 30 }, (_, at) => digestOf(at)),
  );
  const { page, slider } = timeline;
  const [from, to] = [await slider.getAttribute("aria-valuemin"), await slider.getAttribute("aria-valuemax")];
  assert.equal(Number(from), FIRST_MS);
  await slider.focus();
  for (const [key, at] of [
    ["Home", 0],
    ["ArrowRight", 1],
    ["ArrowUp", 2],
    ["PageUp", 12],
    ["PageDown", 2],
    ["ArrowLeft", 1],
    ["ArrowDown", 0],
    ["ArrowLeft", 0],
  ] as const) {
    await page.keyboard.press(key);
    await standsAt(timeline, timeOf(at));
    assert.match((await slider.getAttribute("aria-valuetext")) ?? "", new RegExp(shortOf(at)), key);
  }
  await page.keyboard.press("End");
  await standsAt(timeline, Number(to));
  assert.deepEqual(console_.complaints, []);
});

test("a pointer chooses a moment, also while it is dragged; the address keeps it", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { page, slider } = await openTag(
    console_,
    "pointer",
    Array.from({ length: 5 }, (_, at) => digestOf(at)),
  );
  const box = (await slider.boundingBox()) ?? assert.fail("the slider has no place");
  const middle = box.y + box.height / 2;
  const at = (): Promise<number> => slider.getAttribute("aria-valuenow").then(Number);
  await page.mouse.move(box.x + box.width * 0.25, middle);
  await page.mouse.down();
  await page.waitForURL(/at=/);
  const pressed = await at();
  await page.mouse.move(box.x + box.width * 0.5, middle, { steps: 4 });
  await page.mouse.up();
  const dragged = await at();
  assert.ok(pressed > FIRST_MS && dragged > pressed);
  await page.mouse.move(box.x + box.width * 0.75, middle);
  assert.equal(await at(), dragged, "a pointer that is not pressed changes nothing");
  await page.reload();
  await slider.waitFor();
  assert.equal(await at(), dragged);
});

test("zooming in shows fewer moves around the moment, zooming out all of them again", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const timeline = await openTag(
    console_,
    "zoom",
    Array.from({ length: 90 }, (_, at) => digestOf(at)),
  );
  const { page, slider } = timeline;
  const moment = timeOf(40);
  await page.goto(`/tag?name=acme/zoom:1.0&at=${new Date(moment).toISOString()}`);
  await standsAt(timeline, moment);
  const slots = slider.locator("[data-move]");
  await slots.first().waitFor();
  const some = await slots.count();
  assert.ok(some > 5 && some < 90, `${some} moves`);
  for (let left = 6; left > 0; left--) await page.getByRole("button", { name: "Zoom in" }).click();
  await slider.getByText(shortOf(40)).waitFor();
  assert.ok((await slots.count()) < some);
  await standsAt(timeline, moment);
  for (let left = 12; left > 0; left--) await page.getByRole("button", { name: "Zoom out" }).click();
  await page.getByText("90 moves of 90 shown").waitFor();
  assert.equal(await slots.count(), 90);
  await standsAt(timeline, moment);
});

test("the overview shows another part of the history, by pointer and by keys", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { page, slider } = await openTag(
    console_,
    "overview",
    Array.from({ length: 300 }, (_, at) => digestOf(at)),
  );
  const map = page.getByRole("slider", { name: "Part of the history that is shown" });
  const newest = (): Promise<number> => slider.locator("[data-move]").last().getAttribute("data-move").then(Number);
  await slider.locator("[data-move]").first().waitFor();
  assert.equal(await newest(), 0);
  const box = (await map.boundingBox()) ?? assert.fail("the overview has no place");
  await page.mouse.click(box.x + 0.2, box.y + box.height / 2);
  await slider.locator('[data-move="299"]').waitFor();
  assert.ok((await newest()) > 200);
  await map.focus();
  await page.keyboard.press("ArrowRight");
  await slider.locator('[data-move="299"]').waitFor({ state: "detached" });
  assert.deepEqual(console_.complaints, []);
});

test("a tag that was deleted, and one with a single move", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const deleted = await openTag(console_, "deleted", [digestOf(1), ""]);
  await deleted.slider.getByText("deleted").waitFor();
  await deleted.page.getByText("the tag was not there").waitFor();
  await deleted.slider.focus();
  await deleted.page.keyboard.press("Home");
  await deleted.page.getByText(digestOf(1), { exact: true }).first().waitFor();
  const single = await openTag(console_, "single", [digestOf(7)]);
  assert.equal(await single.slider.locator("[data-move]").count(), 1);
  await single.page.getByRole("button", { name: "Earlier move" }).click();
  await standsAt(single, FIRST_MS);
  await single.page.goto("/tag?name=acme/single:never");
  await single.page.getByText("No such tag").waitFor();
  assert.deepEqual(console_.complaints, []);
});

/** Run in the page: whoever observes an element's size gets the first one only. */
const MEASURES_ONCE = `{
  const Real = globalThis.ResizeObserver;
  globalThis.ResizeObserver = class extends Real {
    constructor(callback) {
      let isFirst = true;
      super((entries, self) => {
        if (isFirst) callback(entries, self);
        isFirst = false;
      });
    }
  };
}`;

test("a window that becomes narrower is not overflowed, however late the page measures itself", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const digests = Array.from({ length: 30 }, (_, at) => digestOf(at));
  const { page } = await openTag(console_, "narrower", digests);
  // A busy browser: what comes after the first measure is not delivered.
  await page.addInitScript({ content: MEASURES_ONCE });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.reload();
  await page.getByRole("slider", { name: "Moment" }).waitFor();
  await page.getByRole("slider", { name: "Part of the history that is shown" }).waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  const wider = await page.evaluate<number>(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
  assert.equal(wider, 0);
});
