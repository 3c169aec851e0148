import assert from "node:assert/strict";
import { test } from "node:test";
import { dueFeeds } from "../../src/security/index.ts";
import { OSV_FEED, openFeedInstallation, someRecords } from "../../../server/test/support/feed-installation.ts";

const range = (fixed: string): object[] => [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed }] }];
const about = (ecosystem: string, name: string, more: object = { versions: ["1"] }): object => ({
  package: { ecosystem, name },
  ...more,
});

test("a feed knows what it covers and what of it matches nothing, after imports of all and of a part", async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  const records: { id: string; [field: string]: unknown }[] = [
    { id: "A-1", affected: [about("npm", "a"), about("Debian:12", "b"), about("Debian:bookworm", "c")] },
    { id: "A-2", affected: [about("Unheard Of", "a")] },
    { id: "A-3", affected: [about("npm", "a"), about("Unheard Of", "a")] },
    { id: "A-4", affected: [about("npm", "a", { ranges: range("not a version") })] },
    {
      id: "A-5",
      affected: [about("npm", "a", { ranges: [{ type: "GIT", repo: "x", events: [{ introduced: "0" }] }] })],
    },
    { id: "A-6" },
    { id: "A-7", affected: [about("Unheard Of", "a")], withdrawn: "2026-01-01T00:00:00Z" },
  ];
  const first = await installation.importOsv("osv", records);
  assert.equal(first.unmatched, 4);
  const state = async () => {
    const [feed] = await installation.admin((feeds) => feeds.list());
    const problems = await installation.admin((feeds) => feeds.problems());
    return {
      covered: feed?.covered?.map(({ space, records: n, isMatched }) => `${space} ${n} ${isMatched}`),
      unmatched: feed?.unmatched,
      problems: problems.map(({ feed: of, kind, record, message }) => `${of} ${kind} ${record}: ${message}`),
    };
  };
  assert.deepEqual(await state(), {
    covered: ["debian:12 1 true", "npm 4 true", "Unheard Of 2 false"],
    unmatched: 4,
    problems: [
      "osv UNMATCHED A-2: packages of Unheard Of are not matched",
      "osv UNMATCHED A-4: a range of npm/a has a version that cannot be read: all that may lie in it counts as affected",
      "osv UNMATCHED A-5: no version of npm/a is named",
      "osv UNMATCHED A-6: names no package",
    ],
  });

  // A part that mends one of them, brings another and an ecosystem that was not there.
  await installation.importOsv(
    "osv",
    [{ id: "A-4", affected: [about("npm", "a"), about("PyPI", "a")] }, { id: "A-8" }],
    { isPart: true },
  );
  const after = await state();
  assert.deepEqual(after.covered, ["debian:12 1 true", "npm 4 true", "pypi 1 true", "Unheard Of 2 false"]);
  assert.equal(after.unmatched, 4);
  assert.deepEqual(
    after.problems.map((each) => each.split(":")[0]),
    ["A-2", "A-5", "A-6", "A-8"].map((id) => `osv UNMATCHED ${id}`),
  );

  // What an earlier version imported is not known to cover anything, until all of it is read again.
  await installation.db.updateTable("feeds").set({ coverage: null, unmatched: null }).execute();
  await installation.importOsv("osv", [{ id: "A-9" }], { isPart: true });
  assert.deepEqual([(await state()).covered, (await state()).unmatched], [undefined, null]);
  await installation.importOsv("osv", [...records, { id: "A-8" }, { id: "A-9" }]);
  assert.equal((await state()).unmatched, 6);
});

test("more problems than are stored stay counted when a part is imported", async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  const many = someRecords(1_003);
  await installation.importOsv("osv", many);
  await installation.importOsv("osv", [{ id: "B-1" }, many[0] ?? { id: "" }], { isPart: true });
  const feed = await installation.feed("osv");
  assert.deepEqual([feed?.records, feed?.unmatched], [1_004, 1_004]);
  assert.equal((await installation.admin((feeds) => feeds.problems("osv"))).length, 1_000);
});

test("a server leaves a preset alone that the command fetches, until it is due as after a failure", async (t) => {
  const installation = await openFeedInstallation(t);
  const added = await installation.admin(async (feeds) => feeds.addPlanned(await feeds.plan(["kev"])));
  assert.deepEqual(added, ["kev"]);
  const row = await installation.feed("kev");
  const atMs = row?.attempt_time ?? NaN;
  assert.equal(row?.error, "its first fetch has not ended");
  const due = async (nowMs: number) => (await dueFeeds(installation.db, nowMs)).map(({ name }) => name);
  assert.deepEqual([await due(atMs + 60_000), await due(atMs + 15 * 60_000)], [[], ["kev"]]);
});
