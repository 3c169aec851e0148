// Lists and documents take no more work with many artifacts or versions than with few. The measure is not time: on
// SQLite it is the query plan of each statement that ran, on PostgreSQL the number of rows that its plan reads.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Ecosystem } from "@moorage/api";
import { sql } from "kysely";
import { addArtifact } from "../../../server/test/support/artifacts.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { npmPath, publishNpm } from "../../../server/test/support/npm.ts";
import { type Answer, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { planOf, type Ran, rowsRead, statementsRun } from "../../../server/test/support/statements.ts";

const MANY = 5_000;
const PAGE = 50;
// Each row of a page passes through a few steps of a plan, one range for each ecosystem among them.
const MAX_ROWS = 12 * (PAGE + 1);

let platform: Platform;
let group = "";
let token = "";
let versioned = "";

before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  group = (await platform.group(platform.organization, { name: "large" })).uid;
  versioned = (await addArtifact(platform, group, { name: "versioned", versions: 1 })).uid;
  await platform.transact(async (tx) => {
    const series = sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(MANY)}) select i from n) as s`;
    const uid = sql`${sql.lit(`${group}/`)} || (1000000000000000 + s.i)`;
    const name = sql`'lib-' || (100000 + s.i)`;
    await sql`insert into artifacts (uid, parent, ecosystem, name, normalized, description, latest_version, version_count, size_bytes, revision, state, create_time, update_time)
      select ${uid}, ${sql.lit(group)}, 1 + s.i % 3, ${name}, ${name}, '', '', 0, 0, 1, '{}', 0, 0 from ${series}`.execute(
      tx,
    );
    for (const ancestor of [platform.organization, group]) {
      await sql`insert into ancestry (kind, ancestor, name, uid) select 'artifacts-' || (1 + s.i % 3), ${sql.lit(ancestor)}, ${name}, ${uid} from ${series}`.execute(
        tx,
      );
      for (const ecosystem of [1, 2, 3])
        await sql`insert into counters (kind, ancestor, n) values (${`artifacts-${ecosystem}`}, ${ancestor},
          (select count(*) from ancestry where kind = ${`artifacts-${ecosystem}`} and ancestor = ${ancestor}))
          on conflict (kind, ancestor) do update set n = excluded.n`.execute(tx);
    }
    await sql`insert into artifact_words (organization, ecosystem, word, artifact) select ${sql.lit(platform.organization)}, 1 + s.i % 3, ${name}, ${uid} from ${series}`.execute(
      tx,
    );
    await sql`insert into artifact_versions (uid, parent, version, sort_key, description, size_bytes, origin, cuda, yanked, deprecated, metadata, publisher, publish_time, create_time, update_time)
      select ${sql.lit(`${versioned}/`)} || (1000000000000000 + s.i), ${sql.lit(versioned)}, '2.0.' || s.i, 'w' || (100000 + s.i), '', 0, 1, '', null, null, '{}', '', 0, 0, 0 from ${series}`.execute(
      tx,
    );
    await sql`update artifacts set version_count = ${MANY + 1} where uid = ${versioned}`.execute(tx);
    if (ENGINE === "postgres") await sql`analyze`.execute(tx);
  });
});
after(() => platform.close());

const ALL = [Ecosystem.JAVA, Ecosystem.PYTHON, Ecosystem.JAVASCRIPT].map((each) => `ecosystems=${each}`).join("&");

/** What the request reads: the statements about libraries. */
async function reads(path: string): Promise<{ answer: Answer; statements: Ran[] }> {
  let answer: Answer | undefined;
  const statements = await statementsRun(async () => {
    answer = await platform.call("GET", path, { token });
  });
  assert.ok(answer !== undefined && answer.status === 200, String(answer?.text));
  return { answer, statements: statements.filter(({ text }) => /\b(?:artifact|ancestry|counters)/.test(text)) };
}

async function requireCheap(statements: readonly Ran[]): Promise<void> {
  assert.ok(statements.length > 0);
  for (const each of statements)
    if (ENGINE === "postgres") assert.ok((await rowsRead(platform.reader, each)) <= MAX_ROWS, each.text);
    else
      for (const step of await planOf(platform.reader, each))
        // A page itself, a subquery, may be read as a whole and sorted.
        assert.doesNotMatch(step, /SCAN (?:t|artifacts|artifact_\w+|ancestry|counters|v|w)\b/, each.text);
}

test("a page of artifacts by name reads a page, in the middle as at the beginning, and its total is no count", async () => {
  const first = await reads(`/libraries/v2/artifacts?${ALL}&uidp.descendants_of=${group}`);
  await requireCheap(first.statements);
  assert.equal(first.answer.body.totalCount, String(MANY + 1));
  const next = await reads(`/libraries/v2/artifacts?page_token=${first.answer.body.nextPageToken}`);
  await requireCheap(next.statements);
  assert.equal((await rows(next.answer.body, "artifacts")).length, PAGE);
  await requireCheap((await reads("/libraries/v2/artifacts/count")).statements);
});

test("a search for a name reads what it finds", async () => {
  const { answer, statements } = await reads(`/libraries/v2/artifacts?${ALL}&query=lib-10277`);
  assert.equal(answer.body.totalCount, "10");
  await requireCheap(statements);
});

test("a page of versions reads a page", async () => {
  const path = `/libraries/v2/artifacts/${encodeURIComponent(versioned)}/versions`;
  const first = await reads(path);
  await requireCheap(first.statements);
  const [newest] = await rows(first.answer.body, "artifactVersions");
  assert.deepEqual([newest?.["version"], first.answer.body.totalCount], [`2.0.${MANY}`, String(MANY + 1)]);
  await requireCheap((await reads(`${path}?page_token=${first.answer.body.nextPageToken}`)).statements);
});

test("a packument is made once for a revision, whatever the number of versions", async () => {
  assert.equal((await publishNpm(platform, "acme/large", "often", "1.0.0")).status, 201);
  const path = npmPath("acme/large", "often");
  const readsVersions = async (): Promise<boolean> =>
    (await reads(path)).statements.some(({ text }) => text.includes("artifact_versions"));
  assert.deepEqual([await readsVersions(), await readsVersions()], [true, false]);
  assert.equal((await publishNpm(platform, "acme/large", "often", "1.0.1")).status, 201);
  assert.deepEqual([await readsVersions(), await readsVersions()], [true, false]);
});
