// How much is kept at an edge of what its center said of pull tokens, and what holds beyond that.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { openTestStore } from "../../../server/test/support/database.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startPullEdge, untilAsked } from "../../../server/test/support/pull-edge.ts";

const [APP, X] = ["acme/edge/app", "acme/edge/team/x"];
/** Source: docs/standing-in-front.md, "Pull tokens of the center". */
const MAX_NAMES = 50_000;

test("beyond 50,000 names a token works while the center answers, and what was known before goes on", async (t) => {
  const { make, login, pull, organization, here, uid, revoke, away, back } = await startPullEdge(t);
  const { db, close } = await openTestStore(here.dataDir);
  t.after(close);
  const countNames = async (): Promise<number> =>
    Number((await db.selectFrom("center_pulls").select(db.fn.countAll().as("count")).executeTakeFirstOrThrow()).count);
  const [known, last, other] = [await make(organization), await make(organization), await make(organization)];
  assert.deepEqual(await pull(known.basic, APP), [200, 200]);
  assert.equal(await countNames(), 2, "the token, and the name");
  // Other tokens fill the rest, but for the three that `last` needs.
  const untilMs = Date.now() + 3_600_000;
  await sql`insert into center_pulls (upstream, secret, name, seen_time, until_time)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(MAX_NAMES - 5)})
    select ${sql.lit(uid)}, 'another', 'acme/' || n, ${sql.lit(Date.now())}, ${sql.lit(untilMs)} from numbers`.execute(
    db,
  );
  assert.equal((await login(last.basic, APP, X)).status, 200);
  assert.equal(await countNames(), MAX_NAMES, "the last three are kept");

  assert.deepEqual(await pull(other.basic, APP), [200, 200], "the center says so");
  assert.equal(await countNames(), MAX_NAMES);
  await eventually(() => Promise.resolve(here.lines.join("").includes("too many names are")));
  away();
  const answer = await login(other.basic, APP);
  assert.deepEqual([answer.status, answer.text.includes("is not known here")], [503, true], answer.text);
  for (const { basic } of [known, last]) assert.deepEqual(await pull(basic, APP), [200, 200]);

  // What is kept is kept for longer when the center says it again, which adds no names.
  const agoMs = Date.now() - 3_600_000;
  await db.updateTable("center_pulls").set({ seen_time: agoMs }).where("secret", "<>", "another").execute();
  back();
  const seenAgain = () =>
    db.selectFrom("center_pulls").select("name").where("secret", "<>", "another").where("seen_time", ">", agoMs);
  await eventually(async () => {
    await login(known.basic, APP);
    return (await seenAgain().execute()).length === 2;
  });
  // What the center refuses is forgotten, and others are kept in its place.
  await revoke(known);
  await untilAsked(() => login(known.basic, APP), 401);
  assert.equal(await countNames(), MAX_NAMES - 2);
  assert.deepEqual(await pull(other.basic, APP), [200, 200]);
  assert.equal(await countNames(), MAX_NAMES);
  away();
  assert.equal((await login(known.basic, APP)).status, 503);
  assert.deepEqual(await pull(other.basic, APP), [200, 200]);
});
