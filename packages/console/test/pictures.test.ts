import assert from "node:assert/strict";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import type { PNG } from "pngjs";
import { ENGINE } from "../../server/test/support/database.ts";
import { needs } from "./support/console.ts";
import {
  ANOTHER_BROWSER,
  difference,
  fileOf,
  SAME_BROWSER,
  shrunk,
  type Tolerance,
} from "./support/pictures/compare.ts";
import { drawnByMachine } from "./support/pictures/fonts.ts";
import { type DesignPage, looksAt, MISSING_IMAGE, ONE_OF_EACH_PLACE } from "./support/pictures/pages.ts";
import { openShowcase, type Taken, takePictures } from "./support/pictures/take.ts";

// Each page of the design looks as it was accepted. `npm run pictures:accept` accepts what the pages look like now.

const ROOT = join(import.meta.dirname, "../../..");
const ACCEPTED = join(import.meta.dirname, "pictures");
/** With which Chromium the pictures were accepted. */
const BROWSER = join(ACCEPTED, "browser.json");
const DIFFERENT = join(ROOT, "build/pictures");
const WIDTHS = [1440, 390];
/** The look in which letters are looked for that the console brings no font for. */
const LETTERS_OF = "-1440-light";
const MAX_BYTES = 6_000_000;
const IS_ACCEPTING = process.env["MOORAGE_PICTURES"] === "accept";
/** In CI one page of each place, in light colors. `npm run test:nightly` and whoever runs this file compare all. */
const IS_PART = process.env["CI"] === "true" && process.env["MOORAGE_PICTURES"] === undefined;
/** Only these pages, by their names; all without. */
const ONLY = process.env["MOORAGE_PICTURES_OF"]?.split(" ") ?? (IS_PART ? ONE_OF_EACH_PLACE : undefined);
const LOOKS = looksAt(WIDTHS).filter(({ theme }) => !IS_PART || theme === "light");
const LIMIT = {
  timeout: IS_PART ? 300_000 : 900_000,
  skip:
    ENGINE === "postgres" &&
    "the pages are those of SQLite: MOORAGE_TEST_ENGINES=sqlite npm test -- console/test/pictures",
};

/** A picture that differs from the accepted one, with what differs in words. */
interface Different {
  page: DesignPage;
  name: string;
  words: string;
}

test("each page of the design looks as it was accepted", LIMIT, async (t) => {
  const opened = await openShowcase();
  const console_ = needs(t, opened?.console_);
  if (console_ === undefined || opened === undefined) return;
  t.after(() => console_.close());
  rmSync(DIFFERENT, { recursive: true, force: true });
  mkdirSync(DIFFERENT, { recursive: true });
  if (IS_ACCEPTING && ONLY === undefined) rmSync(ACCEPTED, { recursive: true, force: true });
  mkdirSync(ACCEPTED, { recursive: true });
  const { version } = opened;
  if (IS_ACCEPTING && ONLY === undefined) writeFileSync(BROWSER, `{ "chromium": "${version}" }\n`);
  const before = acceptedWith();
  const isSame = version === before;
  await t.test("by the browser with which that was accepted", (t) => {
    if (!isSame) t.skip(`Chromium ${version} is not ${before}: pictures are compared with a wider tolerance`);
  });
  const pages = opened.pages.filter(({ name }) => ONLY?.includes(name) ?? true);
  const names = new Set<string>();
  const foreign: string[] = [];
  const differing = async (of: readonly DesignPage[]): Promise<Different[]> => {
    const found: Different[] = [];
    await takePictures({ ...opened, pages: of }, LOOKS, async ({ page, name, screen, shown }) => {
      names.add(`${name}.png`);
      if (name.endsWith(LETTERS_OF)) foreign.push(...(await drawnByMachine(shown)).map((found) => `${name}: ${found}`));
      const now = shrunk(screen);
      if (IS_ACCEPTING) writeFileSync(join(ACCEPTED, `${name}.png`), fileOf(now));
      else found.push(...compared({ page, name, screen }, now, isSame ? SAME_BROWSER : ANOTHER_BROWSER));
    });
    return found;
  };
  const first = await differing(pages);
  // What differs is opened once more, while nothing else is: a page that a busy machine showed half is no other page.
  const again =
    first.length === 0 ? [] : await differing(pages.filter((page) => first.some((each) => each.page === page)));
  const changed = again.filter(({ name }) => first.some((each) => each.name === name)).map(({ words }) => words);
  for (const { name, words } of first)
    if (!again.some((each) => each.name === name)) t.diagnostic(`only once: ${words}`);
  const files = globSync("*.png", { cwd: ACCEPTED });
  const unused = ONLY !== undefined ? [] : files.filter((file) => !names.has(basename(file)));
  const bytes = files.reduce((sum, file) => sum + statSync(join(ACCEPTED, file)).size, 0);
  assert.deepEqual(unused, [], "pictures of no page");
  assert.deepEqual(foreign, [], "letters that the console brings no font for");
  assert.ok(bytes < MAX_BYTES, `${bytes} bytes of pictures`);
  // One of the pages is of an image that is not there.
  assert.deepEqual(
    console_.complaints.filter((text) => !text.includes(MISSING_IMAGE)),
    [],
  );
  const looks = "look at these pictures; `npm run pictures:accept` accepts what the pages look like now";
  if (isSame) {
    assert.deepEqual(changed, [], looks);
    return;
  }
  // Another browser may draw controls otherwise: what differs then is listed, and judged where the accepted one is.
  await t.test("the look of the accepted browser", (t) => {
    if (changed.length > 0) t.skip([`Chromium ${version}: ${changed.length} pictures differ`, ...changed].join("; "));
  });
});

function acceptedWith(): string {
  return (JSON.parse(readFileSync(BROWSER, "utf8")) as { chromium: string }).chromium;
}

/** What differs from the accepted picture, in words; both are written where a person finds them. */
function compared(
  { page, name, screen }: Pick<Taken, "page" | "name" | "screen">,
  now: PNG,
  tolerance: Tolerance,
): Different[] {
  const accepted = join(ACCEPTED, `${name}.png`);
  const found = existsSync(accepted)
    ? difference(readFileSync(accepted), now, tolerance)
    : { words: "it was not accepted yet", picture: fileOf(now) };
  if (found === undefined) return [];
  writeFileSync(join(DIFFERENT, `${name}.now.png`), screen);
  writeFileSync(join(DIFFERENT, `${name}.difference.png`), found.picture);
  const files = `build/pictures/${name}.difference.png, and .now.png beside it`;
  return [{ page, name, words: `${name} (${page.path}): ${found.words}: ${files}` }];
}
