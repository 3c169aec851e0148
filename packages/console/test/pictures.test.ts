import assert from "node:assert/strict";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { ENGINE } from "../../server/test/support/database.ts";
import { needs } from "./support/console.ts";
import { difference, kept } from "./support/pictures/compare.ts";
import { MISSING_IMAGE } from "./support/pictures/pages.ts";
import { openShowcase, takePictures } from "./support/pictures/take.ts";

// Each page of the design looks as it was accepted. `npm run pictures:accept` accepts what the pages look like now.

const ROOT = join(import.meta.dirname, "../../..");
const ACCEPTED = join(import.meta.dirname, "pictures");
const DIFFERENT = join(ROOT, "build/pictures");
const WIDTHS = [1440, 390];
const MAX_BYTES = 6_000_000;
/** Only these pages, by their names; all without. */
const ONLY = process.env["MOORAGE_PICTURES_OF"]?.split(" ");
const IS_ACCEPTING = process.env["MOORAGE_PICTURES"] === "accept";

// Letters are drawn by the browser of the machine. Until that was compared on several machines, no change is kept from
// landing by it.
const ELSEWHERE =
  process.env["CI"] === "true" &&
  process.env["MOORAGE_PICTURES"] === undefined &&
  "pictures of the pages, left for npm run test:nightly, or: MOORAGE_TEST_ENGINES=sqlite npm test -- console/test/pictures";
const LIMIT = {
  timeout: 900_000,
  skip:
    ENGINE === "postgres"
      ? "the pages are those of SQLite: MOORAGE_TEST_ENGINES=sqlite npm test -- console/test/pictures"
      : ELSEWHERE,
};

test("each page of the design looks as it was accepted", LIMIT, async (t) => {
  const opened = await openShowcase();
  const console_ = needs(t, opened?.console_);
  if (console_ === undefined || opened === undefined) return;
  t.after(() => console_.close());
  rmSync(DIFFERENT, { recursive: true, force: true });
  mkdirSync(DIFFERENT, { recursive: true });
  if (IS_ACCEPTING && ONLY === undefined) rmSync(ACCEPTED, { recursive: true, force: true });
  mkdirSync(ACCEPTED, { recursive: true });
  const pages = opened.pages.filter(({ name }) => ONLY?.includes(name) ?? true);
  const names = new Set<string>();
  const changed: string[] = [];
  for await (const { page, name, screen } of takePictures({ ...opened, pages }, WIDTHS)) {
    names.add(`${name}.png`);
    const accepted = join(ACCEPTED, `${name}.png`);
    const now = kept(screen);
    if (IS_ACCEPTING) {
      writeFileSync(accepted, now);
      continue;
    }
    const found = existsSync(accepted)
      ? difference(readFileSync(accepted), now)
      : { words: "it was not accepted yet", picture: now };
    if (found === undefined) continue;
    writeFileSync(join(DIFFERENT, `${name}.now.png`), screen);
    writeFileSync(join(DIFFERENT, `${name}.difference.png`), found.picture);
    changed.push(
      `${name} (${page.path}): ${found.words}: build/pictures/${name}.difference.png, and .now.png beside it`,
    );
  }
  const files = globSync("*.png", { cwd: ACCEPTED });
  const unused = ONLY !== undefined ? [] : files.filter((file) => !names.has(basename(file)));
  const bytes = files.reduce((sum, file) => sum + statSync(join(ACCEPTED, file)).size, 0);
  assert.deepEqual(
    changed,
    [],
    "look at these pictures; `npm run pictures:accept` accepts what the pages look like now",
  );
  assert.deepEqual(unused, [], "pictures of no page");
  assert.ok(bytes < MAX_BYTES, `${bytes} bytes of pictures`);
  // One of the pages is of an image that is not there.
  assert.deepEqual(
    console_.complaints.filter((text) => !text.includes(MISSING_IMAGE)),
    [],
  );
});
