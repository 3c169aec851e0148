// What it costs to ask which images hold a library, and which libraries a vulnerability hits, does not grow with what
// there is beside them. The measure is not time: on SQLite it is the query plan of each statement that ran, on
// PostgreSQL the number of rows that its plan reads.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { addArtifact } from "../../../server/test/support/artifacts.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Answer, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { planOf, type Ran, rowsRead, statementsRun } from "../../../server/test/support/statements.ts";

const MANY = 6_000;
const PAGE = 20;
// Of one statement: it looks at a hundred images at most, and each row passes through some twenty steps of its plan, on
// the oldest PostgreSQL more than on the newest. Reading all of a table is more than this.
const MOST_ROWS = 5_000;

let platform: Platform;
let token = "";
let pad = "";

before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  const group = (await platform.group(platform.organization, { name: "large" })).uid;
  const repo = (await platform.repo(group, { name: "app" })).uid;
  pad = (await addArtifact(platform, group, { name: "left-pad", versions: 2 })).uid;
  await putRecords(platform, "osv", "osv", [osvOf("GHSA-1", affectedBefore("left-pad", "1.0.1"))]);
  await platform.transact(async (tx) => {
    const series = sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(MANY)}) select i from n) as s`;
    const digest = sql`'sha256:' || (1000000000 + s.i)`;
    const many = async (text: ReturnType<typeof sql>): Promise<void> => void (await text.execute(tx));
    await many(sql`insert into manifests (repo, digest, media_type, content, size, subject, artifact_type, annotations, create_time, touch_time, architecture)
      select ${sql.lit(repo)}, ${digest}, 'application/vnd.oci.image.manifest.v1+json', ${Buffer.from("{}")}, 2, '', '', '{}', 0, 0, 'amd64' from ${series}`);
    await many(sql`insert into image_catalogs (digest, state, backlog, attempts, reason, holder, hold_until, os_id, os_version, os_name, unread, create_time, finish_time)
      select ${digest}, 2, 0, 1, '', '', 0, '', '', '', '[]', 0, 0 from ${series}`);
    await many(sql`insert into tags (uid, parent, name, digest, deprecated, bundles, create_time, update_time)
      select ${sql.lit(`${repo}/`)} || (1000000000000000 + s.i), ${sql.lit(repo)}, 't' || s.i, ${digest}, 0, '[]', 0, 0 from ${series}`);
    await many(sql`insert into tag_history (repo, tag, time, digest, actor, reason)
      select ${sql.lit(repo)}, 't' || s.i, 1, ${digest}, '', '' from ${series}`);
    // Each image holds a package of its own; the library is in the first hundred, and another one in all.
    await many(sql`insert into packages (id, ecosystem, source_name, source_version, purl, name, version, licence, matched)
      select 'p' || s.i, 'npm', 'n' || s.i, '1.0.0', 'pkg:npm/n' || s.i || '@1.0.0', 'n' || s.i, '1.0.0', '', 0 from ${series}`);
    for (const name of ["left-pad", "common"]) {
      await many(sql`insert into packages (id, ecosystem, source_name, source_version, purl, name, version, licence, matched)
        values (${name}, 'npm', ${name}, '1.0.0', ${`pkg:npm/${name}@1.0.0`}, ${name}, '1.0.0', '', 0)`);
      await many(sql`insert into package_keys (key, package, version) values (${`npm/${name}`}, ${name}, '1.0.0')`);
    }
    await many(sql`insert into image_packages (digest, source, n, package, layer, path, reader)
      select ${digest}, 'layers', 0, 'p' || s.i, '', '', '' from ${series}`);
    await many(sql`insert into image_packages (digest, source, n, package, layer, path, reader)
      select ${digest}, 'layers', 1, 'common', '', '', '' from ${series}`);
    await many(sql`insert into image_packages (digest, source, n, package, layer, path, reader)
      select ${digest}, 'layers', 2, 'left-pad', '', '', '' from ${series} where s.i <= 100`);
    await many(sql`insert into artifacts (uid, parent, ecosystem, name, normalized, description, latest_version, version_count, size_bytes, revision, state, create_time, update_time)
      select ${sql.lit(`${group}/`)} || (1000000000000000 + s.i), ${sql.lit(group)}, 3, 'lib-' || s.i, 'lib-' || s.i, '', '', 0, 0, 1, '{}', 0, 0 from ${series}`);
    if (ENGINE === "postgres") await sql`analyze`.execute(tx);
  });
});
after(() => platform.close());

async function reads(path: string): Promise<{ answer: Answer; statements: Ran[] }> {
  let answer: Answer | undefined;
  const statements = await statementsRun(async () => {
    answer = await platform.call("GET", path, { token });
  });
  assert.ok(answer !== undefined && answer.status === 200, String(answer?.text));
  const about =
    /\b(?:image_packages|package_keys|manifests|tags|tag_history|feed_keys|feed_records|artifacts|artifact_versions)\b/;
  return { answer, statements: statements.filter(({ text }) => /^\s*(?:select|with)/.test(text) && about.test(text)) };
}

async function requireCheap(statements: readonly Ran[]): Promise<void> {
  assert.ok(statements.length > 0);
  if (ENGINE === "postgres") {
    for (const each of statements) {
      const read = await rowsRead(platform.reader, each);
      assert.ok(read <= MOST_ROWS, `${read} rows: ${each.text}`);
    }
    return;
  }
  for (const each of statements) {
    const plan = await planOf(platform.reader, each);
    const small = new Set(plan.flatMap((step) => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)/.exec(step)?.[1] ?? []));
    for (const step of plan) {
      const [, name = ""] = /^SCAN (\w+)/.exec(step) ?? [];
      assert.ok(["", "CONSTANT", "f", "feeds"].includes(name) || small.has(name), `${step}: ${each.text}`);
    }
  }
}

test("a page of the images of a library reads a page, in the middle as at the beginning, and the total its matches", async () => {
  const path = `/libraries/v2/artifacts/${encodeURIComponent(pad)}/images?page_size=${PAGE}`;
  const first = await reads(path);
  assert.deepEqual(
    [first.answer.body.totalCount, first.answer.body["artifactImages"]?.toString() === ""],
    ["100", false],
  );
  await requireCheap(first.statements);
  const next = await reads(`${path}&page_token=${first.answer.body.nextPageToken}`);
  assert.equal((await rows(next.answer.body, "artifactImages")).length, PAGE);
  await requireCheap(next.statements);
});

test("of a library that very many images hold a page is read, and they are not counted", async () => {
  const { uid } = await addArtifact(platform, pad.slice(0, pad.lastIndexOf("/")), { name: "common" });
  const path = `/libraries/v2/artifacts/${encodeURIComponent(uid)}/images?page_size=${PAGE}`;
  const { answer } = await reads(path);
  assert.equal((await rows(answer.body, "artifactImages")).length, PAGE);
  assert.equal(answer.body.totalCount, undefined);
});

test("the libraries that a vulnerability hits are found by their names", async () => {
  const { answer, statements } = await reads("/libraries/v2/findings?vulnerabilities=GHSA-1");
  assert.equal((await rows(answer.body, "libraryFindings")).length, 1);
  await requireCheap(statements);
  const { statements: of } = await reads(`/libraries/v2/findings?artifact=${pad}`);
  await requireCheap(of);
});
