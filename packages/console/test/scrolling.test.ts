import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { changeCount } from "../../kernel/src/store/index.ts";
import { ENGINE } from "../../server/test/support/database.ts";
import { openTaggedRepo } from "../../server/test/support/tagged-repo.ts";
import { type Console, needs, openConsole } from "./support/console.ts";
import { tasksDuring, turnWheel } from "./support/trace.ts";

const MOVES = 1_000_000;
// As many rows as one statement inserts.
const BATCH = 10_000;
const TAGS = BATCH;
const ROUNDS = 3;
const TURNS = 100;
const STEP_PX = 1_500;
// On the machine where this was measured: tags 1.9, moves 1.6, the next page 2.7. Cells that ask the server for every
// row that passes, and rows that are made again at each step, gave 9.2.
const MAX_RATIO = 7;
// Pages of 1,000 moves that are read beforehand. When the next one came, a model of all rows took 20 times as long as
// opening an empty page.
const PAGES_READ = 200;
const FIRST_MS = Date.parse("2020-01-01T00:00:00Z");

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

/** A row for each number from `from`, as many as are inserted by one statement. */
const numbers = (from: number) =>
  sql`(with recursive n(i) as (select ${sql.lit(from)} union all select i + 1 from n where i + 1 < ${sql.lit(from + BATCH)})
    select i from n) as s`;

// Tasks are as long as the processors let them be, and the pages of both engines are the same.
const OPTIONS = {
  skip:
    (ENGINE === "postgres" || process.env["MOORAGE_TEST_CONCURRENCY"] !== "1") &&
    "it measures, so nothing else runs: MOORAGE_TEST_CONCURRENCY=1 MOORAGE_TEST_ENGINES=sqlite npm test -- scrolling",
};

test("10,000 tags and 1,000,000 moves are scrolled without long tasks", OPTIONS, async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const many = await openTaggedRepo(platform, "many");
  await openTaggedRepo(platform, "none");
  const [one] = many.digests;
  await platform.transact(async (tx) => {
    const number = sql`cast(1000000 + i as text)`;
    await sql`insert into tags (uid, parent, name, digest, deprecated, bundles, create_time, update_time)
      select ${many.uid} || '/000000000' || ${number}, ${many.uid}, 'v-' || ${number}, ${one}, 0, '[]', i, i
      from ${numbers(0)}`.execute(tx);
    await changeCount(tx, "tags", `${many.uid}/0000000000000000`, TAGS);
  });
  for (let from = 0; from < MOVES; from += BATCH)
    await platform.transact(async (tx) => {
      await sql`insert into tag_history (repo, tag, time, digest, actor, reason)
        select ${many.uid}, 'v-1000000', ${sql.lit(FIRST_MS)} + cast(i as bigint) * 60000,
          ${`sha256:${"0".repeat(57)}`} || cast(1000000 + i as text), ${platform.owner}, 'push'
        from ${numbers(from)}`.execute(tx);
    });
  const page = await signedIn();
  /** The longest task in the round with the least: other programs on the machine only add to it. */
  const leastOf = async (work: () => Promise<void>): Promise<number> => {
    const rounds: number[] = [];
    for (let left = ROUNDS; left > 0; left--) rounds.push((await tasksDuring(page, work))[0] ?? 0);
    return Math.min(...rounds);
  };
  await page.goto("/repo?name=acme/none");
  const bound = await leastOf(async () => {
    await page.reload();
    await page.getByText("No tags yet").waitFor();
  });
  const longest: Record<string, number> = {};
  for (const [what, path, table] of [
    ["tags", "/repo?name=acme/many&rows=tags", "Tags"],
    ["moves", "/tag?name=acme/many:v-1000000", "Moves"],
  ] as const) {
    await page.goto(path, { waitUntil: "networkidle" });
    const rows = page.getByRole("table", { name: table }).getByRole("row");
    await rows.nth(5).waitFor();
    longest[what] = await leastOf(async () => {
      await turnWheel(page, TURNS, STEP_PX);
      // When the wheel rests, the rows that are seen are filled.
      await rows.filter({ hasNotText: "…" }).nth(5).waitFor();
    });
    const index = Number(await rows.last().getAttribute("aria-rowindex"));
    t.diagnostic(
      `${what}: row ${index} after ${ROUNDS * TURNS} turns; longest task ${longest[what].toFixed(1)} ms, ` +
        `${(longest[what] / bound).toFixed(2)} of the longest of opening an empty page (${bound.toFixed(1)} ms)`,
    );
    assert.ok(index > 2_000, `${what}: the rows follow the wheel`);
  }
  const more = page.getByRole("button", { name: "Show earlier moves" });
  const readOn = async (): Promise<void> => {
    const before = await page.getByRole("slider", { name: "Moment" }).getAttribute("aria-valuemin");
    await more.click();
    await page.locator(`[aria-label=Moment]:not([aria-valuemin="${before}"])`).waitFor();
  };
  for (let left = PAGES_READ; left > 0; left--) await readOn();
  longest["next page"] = await leastOf(readOn);
  t.diagnostic(`the next page after ${PAGES_READ}: ${(longest["next page"] / bound).toFixed(2)} of an empty page`);
  for (const [what, ms] of Object.entries(longest))
    assert.ok(ms <= MAX_RATIO * bound, `${what}: a task took ${ms} ms, one of opening an empty page ${bound} ms`);
  assert.deepEqual(complaints, []);
});
