import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { addPulls, setLastPulls } from "../../src/registry/pulls/add-pulls.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { planOf, type Ran, rowsRead, statementsRun } from "../../../server/test/support/statements.ts";

// What is written of pulls takes as many statements for many pulls as for few, and no more work in a repo with many
// images than in one with few.

const MANY = 20_000;
const PULLS = 50;
// Each pull passes through the steps of a plan: itself, its repo, its identity, three ways to tags, and sorting.
const MAX_ROWS = 30 * PULLS;
const digest = (index: number): string => `sha256:${"0".repeat(57)}${1_000_000 + index}`;
const tag = (index: number): string => `v-${1_000_000 + index}`;

let platform: Platform;
let repo: string;
before(async () => {
  platform = await startPlatform({ MOORAGE_PULLS_RETENTION: "0" });
  ({ uid: repo } = await platform.repo(platform.organization));
  await platform.transact(async (tx) => {
    const series = sql`(with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${sql.lit(MANY)}) select i from n) as s`;
    const zeros = sql.lit(`sha256:${"0".repeat(57)}`);
    await sql`insert into tags (uid, parent, name, digest, deprecated, bundles, create_time, update_time)
      select ${sql.lit(`${repo}/`)} || (1000000000000000 + s.i), ${sql.lit(repo)}, 'v-' || (1000000 + s.i), ${zeros} || (1000000 + s.i), 0, '[]', 1, 1
      from ${series}`.execute(tx);
    // The digest of each tag is an index with the content of the next one below it.
    await sql`insert into manifest_references (repo, digest, target, kind)
      select ${sql.lit(repo)}, ${zeros} || (1000000 + s.i), ${zeros} || (1000001 + s.i), 'manifest' from ${series}`.execute(
      tx,
    );
  });
  if (ENGINE === "postgres") await platform.transact(async (tx) => void (await sql`analyze`.execute(tx)));
});
after(() => platform.close());

/** The statements that write so many pulls, of different digests. */
const written = (pulls: number, timeMs: number): Promise<Ran[]> => {
  const each = Array.from({ length: pulls }, (_, at) => ({ repo, tag: tag(at), digest: digest(at + 1) }));
  const identity = platform.owner;
  const sums = each.map((pull) => ({ ...pull, day: 0, identity, count: 1, bytes: 1, firstMs: 1, lastMs: 1 }));
  const last = each.map((pull) => ({ ...pull, identity, timeMs }));
  return statementsRun(() =>
    platform.transact(async (tx) => {
      await addPulls(tx, JSON.stringify({ ...sums }));
      await setLastPulls(tx, JSON.stringify({ ...last }));
    }),
  );
};
const aboutPulls = (ran: Ran[]): Ran[] => ran.filter(({ text }) => text.includes("json_each"));

test("pulls are written by as many statements as one, and read nothing that was not pulled", async () => {
  const many = aboutPulls(await written(PULLS, 100_000));
  const tags = await platform.reader
    .selectFrom("tags")
    .select(["name", "last_pull_time"])
    .where("parent", "=", repo)
    .where("last_pull_time", "is not", null)
    .orderBy("name")
    .execute();
  // By its name, by its digest, and the index that is above the digest.
  assert.deepEqual(
    tags.map(({ name, last_pull_time: time }) => [name, Number(time)]),
    Array.from({ length: PULLS + 1 }, (_, at) => [tag(at), 100_000]),
  );
  const one = aboutPulls(await written(1, 200_000));
  assert.deepEqual(
    many.map(({ text }) => text),
    one.map(({ text }) => text),
  );
  assert.equal(many.length, 4);
  assert.equal(aboutPulls(await written(PULLS, 200_000)).length, 4, "most of them are due once more");
  assert.equal(aboutPulls(await written(PULLS, 200_000)).length, 3, "tags have their last pull exact to a minute");
  for (const each of many)
    if (ENGINE === "sqlite")
      for (const step of await planOf(platform.reader, each))
        assert.doesNotMatch(step, /SCAN (?:t|r|tags)\b|\((?:repo|parent)=\?\)/, each.text);
    else {
      const rows = await platform.transact((tx) => rowsRead(tx, each));
      assert.ok(rows <= MAX_ROWS, `${rows} rows: ${each.text}`);
    }
});
