import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { COMMON, cveOf, FEED, FIXED, imageRepos, imageStatements, recordText } from "../../../../bench/seed-images.ts";
import { POSTGRES, SQLITE } from "../../../../bench/seed-sql.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { openCall } from "../../../server/src/runtime/open-call.ts";
import { osvRecord } from "../../src/security/feeds/osv.ts";
import { matchChanges } from "../../src/security/findings/match-changes.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { putRecords } from "../../../server/test/support/feed-records.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { planOf, type Ran, rowsRead, statementsRun } from "../../../server/test/support/statements.ts";

// What a change of a feed costs, the report of an image, and a list by vulnerability must not grow with the images that
// there are. Work is not measured as time: on SQLite it is the query plan of each statement that ran, on PostgreSQL the
// number of rows that its plan reads.

const IMAGES = 4_000;
const CHANGED = 5;
const PAGE = 20;
// Below the packages (8,000), the places in images at which they are (39,520), the findings and the manifests (4,000
// each). A page looks at a hundred images, and each row passes through several steps of a plan.
const MOST_ROWS = 3_000;

class Undone extends Error {}

/** Runs the work in a transaction that is rolled back. */
async function undone({ transact }: Platform, work: (tx: Database) => Promise<void>): Promise<void> {
  await assert.rejects(
    transact(async (tx) => {
      await work(tx);
      throw new Undone();
    }),
    Undone,
  );
}

// Beside them run those of background work.
const ABOUT =
  /\b(?:package_findings|package_keys|image_packages|image_catalogs|feed_keys|feed_records|manifests|tags)\b/;

// Indexes that have only what is not known: their rows are few where all is, and looked at up to a limit.
const WHAT_WAITS = / USING (?:COVERING )?INDEX (?:image_catalogs_unknown|packages_unmatched)$/;

/** Asserts that the statements read what they are about by indexes. */
async function assertByIndexes(db: Database, title: string, all: readonly Ran[]): Promise<void> {
  const ran = all.filter(({ text }) => ABOUT.test(text));
  assert.ok(
    ran.some(({ text }) => text.includes("package_findings")),
    title,
  );
  if (ENGINE === "postgres") {
    const rows: [number, string][] = [];
    for (const each of ran.filter(({ text }) => /^\s*(?:select|with)\b/i.test(text)))
      rows.push([await rowsRead(db, each), each.text]);
    const sum = rows.reduce((total, [count]) => total + count, 0);
    const most = rows.sort(([one], [other]) => other - one).slice(0, 5);
    assert.ok(sum <= MOST_ROWS, `${title} reads ${sum} rows: ${JSON.stringify(most)}`);
    return;
  }
  const scans = new Set<string>();
  for (const each of ran.filter(({ text }) => /^\s*(?:select|with|update|delete)\b/i.test(text))) {
    const plan = await planOf(db, each);
    // Parts of the statement itself, and the feeds, of which there are a hundred at most.
    const small = new Set(plan.flatMap((detail) => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)/.exec(detail)?.[1] ?? []));
    for (const detail of plan) {
      const [, name = ""] = /^SCAN (\w+)/.exec(detail) ?? [];
      const isOfWhatWaits = WHAT_WAITS.test(detail);
      if (name !== "" && name !== "CONSTANT" && name !== "feeds" && !small.has(name) && !isOfWhatWaits)
        scans.add(`${detail}: ${each.text}`);
    }
  }
  assert.deepEqual([...scans], [], title);
}

test(
  "changes of feeds, reports and lists by vulnerability do not read all that images hold",
  { timeout: 300_000 },
  async (t) => {
    const platform = await startPlatform();
    t.after(() => platform.close());
    const { organization, reader, transact } = platform;
    for (let n = 0; n < imageRepos(IMAGES); n += 1) await platform.repo(organization, { name: `app-${n}` });
    const contentOf = (expression: string): string => `'{"of":"' || ${expression} || '"}'`;
    const dialect = ENGINE === "postgres" ? POSTGRES : SQLITE;
    await transact(async (tx) => {
      for (const each of imageStatements(organization, IMAGES, contentOf, dialect)) await sql.raw(each).execute(tx);
    });
    if (ENGINE === "postgres") await transact(async (tx) => void (await sql.raw("analyze").execute(tx)));

    const records = Array.from({ length: CHANGED }, (_, n) => {
      const text = recordText({
        n: COMMON + n,
        padded: String(COMMON + n).padStart(7, "0"),
        details: "",
        fixed: FIXED + 1,
      });
      const { record } = osvRecord(JSON.parse(text));
      assert.ok(record !== undefined);
      return record;
    });
    await undone(platform, async (tx) => {
      await putRecords({ transact: (work) => work(tx) }, FEED, "osv", records);
      const done = { opened: 0, closed: 0 };
      const ran = await statementsRun(async () => {
        for (let isDone = false; !isDone;) {
          const step = await matchChanges.run(openCall(systemCall(Date.now()), tx), undefined, undefined);
          isDone = step.isDone;
          done.opened += step.opened;
          done.closed += step.closed;
        }
      });
      assert.deepEqual(done, { opened: CHANGED * (FIXED + 1), closed: CHANGED * FIXED });
      await assertByIndexes(tx, "a change of a feed", ran);
    });

    // The first image by its digest has so many packages that reading all there are would be as well.
    const image = await reader
      .selectFrom("manifests")
      .select(["repo", "digest"])
      .orderBy("digest")
      .limit(1)
      .offset(1)
      .executeTakeFirstOrThrow();
    const lists = {
      "the report of an image": `repo=${image.repo}&digest=${image.digest}`,
      "a list by vulnerability": `uidp.descendants_of=${organization}&vulnerabilities=${cveOf(COMMON)}&page_size=${PAGE}`,
      "a list by a vulnerability that is not there": `uidp.descendants_of=${organization}&vulnerabilities=CVE-1999-1`,
      "a list by a vulnerability of many images": `uidp.descendants_of=${organization}&vulnerabilities=${cveOf(1)}&page_size=${PAGE}`,
    };
    for (const [title, query] of Object.entries(lists)) {
      const token = await platform.token();
      const ran = await statementsRun(async () => {
        const { status, body, text } = await platform.call("GET", `/vulnerabilities/v2/findings?${query}`, { token });
        assert.equal(status, 200, text);
        assert.equal((body["findings"] as unknown[]).length > 0, !title.endsWith("not there"), title);
        const summary = body["unknownSummary"] as { notRead: number; noData: number } | null;
        assert.deepEqual([summary?.notRead ?? 0, summary?.noData ?? 0], [0, 0], title);
      });
      await assertByIndexes(reader, title, ran);
    }
  },
);
