import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import type { Page } from "playwright-core";
import { changeCount } from "../../kernel/src/store/index.ts";
import { openTaggedRepo } from "../../server/test/support/tagged-repo.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

const TAGS = 3_000;
const STOPS = 12;
const STEP_PX = 3_337;
// Where the text of a cell takes two lines, its row is higher than others.
const WIDTHS_PX = [390, 1_280, 1_440];
/** Resolves to the position of the page once it has been the same for 30 frames. */
const RESTING_POSITION = `new Promise((resolve) => {
  let last = -1, same = 0;
  const look = () => {
    same = window.scrollY === last ? same + 1 : 0;
    last = window.scrollY;
    if (same === 30) resolve(last); else requestAnimationFrame(look);
  };
  look();
})`;
const MAX_REST_MS = 20_000;

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

test("a long table comes to rest wherever the wheel leaves it, and its rows are filled", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const many = await openTaggedRepo(platform, "many");
  const [one] = many.digests;
  const number = sql`cast(1000000 + i as text)`;
  await platform.transact(async (tx) => {
    await sql`insert into tags (uid, parent, name, digest, deprecated, bundles, create_time, update_time)
      select ${many.uid} || '/000000000' || ${number}, ${many.uid}, 'v-' || ${number}, ${one}, 0, '[]', i, i
      from (with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${sql.lit(TAGS)})
        select i from n) as s`.execute(tx);
    await changeCount(tx, "tags", `${many.uid}/0000000000000000`, TAGS);
  });
  for (const width of WIDTHS_PX) {
    const page: Page = await signedIn({ options: { viewport: { width, height: 720 } } });
    await page.goto("/repo?name=acme/many&rows=tags");
    const rows = page.getByRole("table", { name: "Tags" }).getByRole("row");
    await rows.nth(5).waitFor();
    await page.mouse.move(200, 500);
    for (let stop = 0; stop < STOPS; stop++) {
      await page.mouse.wheel(0, STEP_PX + stop);
      const rest: Promise<unknown> = Promise.race([
        page.evaluate(RESTING_POSITION),
        page.waitForTimeout(MAX_REST_MS).then(() => "still moving"),
      ]);
      assert.equal(typeof (await rest), "number", `${width} px wide, stop ${stop}: the page moves by itself`);
      await rows.filter({ hasNotText: "…" }).nth(5).waitFor();
    }
  }
  assert.deepEqual(complaints, []);
});
