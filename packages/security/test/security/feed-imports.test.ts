import assert from "node:assert/strict";
import { test } from "node:test";
import { type FeedsAdmin, StoreError } from "../../../server/src/index.ts";
import { fileOf, osv } from "../../../server/test/support/feed-files.ts";
import { OSV_FEED, openFeedInstallation, someRecords } from "../../../server/test/support/feed-installation.ts";
import { zipOf } from "../../../server/test/support/zip.ts";

const TIMEOUT = { timeout: 300_000 };

/** What of the feed could not be read. */
const unreadable = async (feeds: FeedsAdmin) =>
  (await feeds.problems("osv")).filter(({ kind }) => kind === "UNREADABLE");

test("an import stores records and what they are found by; the same again changes nothing", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  const records = [
    {
      id: "GO-1",
      aliases: ["CVE-2026-1", "cve-2026-1"],
      modified: "2026-05-01T00:00:00Z",
      affected: [
        { package: { ecosystem: "PyPI", name: "A__b" } },
        { package: { ecosystem: "Of tomorrow", name: "a" } },
      ],
    },
    { id: "GO-2", withdrawn: "2026-02-01T00:00:00Z", aliases: ["CVE-2026-2"] },
    { id: "GO-3", severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] },
  ];
  const first = await installation.importOsv("osv", records);
  assert.deepEqual(first, {
    feed: "osv",
    records: 3,
    changed: 3,
    removed: 0,
    problems: 0,
    statements: 0,
    statementsUnmatched: 0,
    unmatched: 2,
  });
  const stored = await installation.records();
  assert.deepEqual(
    stored.map((row) => [row.id, row.modified, row.withdrawn, row.severity, row.score_tenths, row.removed]),
    [
      ["GO-1", Date.parse("2026-05-01"), null, "UNKNOWN", null, 0],
      ["GO-2", Date.parse("2026-01-02T03:04:05Z"), Date.parse("2026-02-01"), "UNKNOWN", null, 0],
      ["GO-3", Date.parse("2026-01-02T03:04:05Z"), null, "CRITICAL", 98, 0],
    ],
  );
  assert.deepEqual(await installation.keys("alias"), ["cve-2026-1 of GO-1", "cve-2026-2 of GO-2"]);
  assert.deepEqual(await installation.keys("package"), ["pypi/a-b of GO-1"]);
  assert.deepEqual(await installation.keys("id"), ["go-1 of GO-1", "go-2 of GO-2", "go-3 of GO-3"]);
  const feed = await installation.feed("osv");
  assert.deepEqual(
    [feed?.records, feed?.withdrawn, feed?.problems, feed?.newest, feed?.error],
    [3, 1, 0, Date.parse("2026-05-01"), ""],
  );
  assert.ok(feed?.success_time !== null);

  const again = await installation.importOsv("osv", records.toReversed());
  assert.deepEqual(again, {
    feed: "osv",
    records: 3,
    changed: 0,
    removed: 0,
    problems: 0,
    statements: 0,
    statementsUnmatched: 0,
    unmatched: 2,
  });
  assert.deepEqual(await installation.records(), stored);
});

test("what changed and what is gone gets new numbers, in the order of the commits", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  const others = someRecords(18);
  await installation.importOsv("osv", [
    ...others,
    { id: "B-1", aliases: ["CVE-1"] },
    { id: "B-2", aliases: ["CVE-2"] },
  ]);
  const last = Math.max(...(await installation.records()).map(({ change }) => change));
  const outcome = await installation.importOsv("osv", [...others, { id: "B-1", aliases: ["CVE-3"] }, { id: "B-3" }]);
  assert.deepEqual(outcome, {
    feed: "osv",
    records: 20,
    changed: 2,
    removed: 1,
    problems: 0,
    statements: 0,
    statementsUnmatched: 0,
    unmatched: 20,
  });
  const rows = await installation.records();
  const since = rows.filter(({ change }) => change > last).toSorted((a, b) => a.change - b.change);
  assert.deepEqual(
    since.map(({ id, removed }) => [id, removed]),
    [
      ["B-1", 0],
      ["B-3", 0],
      ["B-2", 1],
    ],
  );
  assert.deepEqual(
    since.map(({ id, body }) => [id, body !== ""]),
    [
      ["B-1", true],
      ["B-3", true],
      ["B-2", false],
    ],
  );
  assert.equal(new Set(rows.map(({ change }) => change)).size, rows.length);
  // An alias that the source has taken back is gone, and so is all by which a record was found that is gone.
  assert.deepEqual(await installation.keys("alias"), ["cve-3 of B-1"]);
  assert.equal((await installation.keys("id")).includes("b-2 of B-2"), false);
  assert.equal((await installation.feed("osv"))?.records, 20);

  // What comes back is a change as well.
  const back = await installation.importOsv("osv", [{ id: "B-2", aliases: ["CVE-2"] }], { isPart: true });
  assert.deepEqual([back.changed, back.removed], [1, 0]);
  assert.deepEqual(await installation.keys("alias"), ["cve-2 of B-2", "cve-3 of B-1"]);
});

test("a snapshot that lacks more than a tenth is rejected, and nothing of it is written", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  const records = someRecords(20);
  await installation.importOsv("osv", records);
  const before = await installation.records();
  const shrunk = [{ id: "A-0001", aliases: ["CVE-1"] }, { id: "A-9999" }, ...records.slice(1, 17)];
  const message = "it lacks 3 of the 20 records that the feed has, more than a tenth";
  await assert.rejects(
    installation.importOsv("osv", shrunk),
    (error) => error instanceof StoreError && error.message === message,
  );
  assert.deepEqual(await installation.records(), before);
  const feed = await installation.feed("osv");
  assert.deepEqual([feed?.error, feed?.records], [message, 20]);

  await assert.rejects(installation.importOsv("osv", []), { message: "it has no records" });
  assert.equal((await installation.importOsv("osv", records.slice(2))).removed, 2);
  assert.equal((await installation.feed("osv"))?.error, "");
  assert.equal((await installation.importOsv("osv", shrunk, { allowShrink: true })).removed, 3);
  assert.equal((await installation.feed("osv"))?.records, 18);
});

test("of a record that cannot be read the stored version stays, and the problem is listed", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  await installation.importOsv("osv", [{ id: "A-1" }, { id: "A-2" }]);
  const [before] = await installation.records();
  const zip = zipOf([
    { name: "A-1.json", content: osv("A-1", { modified: "soon" }) },
    { name: "A-2.json", content: osv("A-2") },
    { name: "twice/A-2.json", content: osv("A-2", { aliases: ["CVE-1"] }) },
    { name: "x.json", content: "{" },
  ]);
  const outcome = await installation.admin((feeds) => feeds.importData("osv", fileOf(t, "all.zip", zip), {}));
  assert.deepEqual(outcome, {
    feed: "osv",
    records: 1,
    changed: 0,
    removed: 0,
    problems: 3,
    statements: 0,
    statementsUnmatched: 0,
    unmatched: 1,
  });
  assert.deepEqual((await installation.records())[0], before);
  const listed = await installation.admin((feeds) => unreadable(feeds));
  assert.deepEqual(
    listed.map(({ record, position }) => [record, position]),
    [
      ["A-1", "A-1.json"],
      ["A-2", "A-2"],
      ["x", "x.json"],
    ],
  );
  assert.equal((await installation.feed("osv"))?.problems, 3);
  // A part says nothing about the others: only the problem of what it has is over.
  await installation.importOsv("osv", [{ id: "A-1", modified: "2026-06-01T00:00:00Z" }], { isPart: true });
  const left = await installation.admin((feeds) => unreadable(feeds));
  assert.deepEqual(
    left.map(({ record }) => record),
    ["A-2", "x"],
  );
  assert.equal((await installation.feed("osv"))?.problems, 2);
  await installation.importOsv("osv", [{ id: "A-1" }, { id: "A-2" }]);
  assert.deepEqual(await installation.admin((feeds) => unreadable(feeds)), []);
});

test("a single record changes that record alone", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  await installation.importOsv("osv", someRecords(3));
  const file = fileOf(t, "one.json", osv("A-0002", { aliases: ["CVE-1"], modified: "2030-01-01T00:00:00Z" }));
  const outcome = await installation.admin((feeds) => feeds.importData("osv", file, {}));
  assert.deepEqual(outcome, {
    feed: "osv",
    records: 1,
    changed: 1,
    removed: 0,
    problems: 0,
    statements: 0,
    statementsUnmatched: 0,
    unmatched: 1,
  });
  const feed = await installation.feed("osv");
  // Up to where the feed is complete has not changed: an update must not leave out what came in between.
  assert.deepEqual([feed?.records, feed?.newest], [3, Date.parse("2026-01-02T03:04:05Z")]);
});

test("records of several feeds about one vulnerability are found together", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin(async (feeds) => {
    await feeds.add(OSV_FEED);
    await feeds.add({ name: "kev", format: "kev", licence: "CC0-1.0" });
    await feeds.add({ name: "epss", format: "epss", licence: "own terms" });
    const kev = JSON.stringify({ vulnerabilities: [{ cveID: "CVE-2026-1", dateAdded: "2026-01-02" }] });
    await feeds.importData("kev", fileOf(t, "kev.json", kev), {});
    const scores = (share: number, day: string): string =>
      fileOf(t, "epss.csv", `#score_date:${day}T00:00:00+0000\ncve,epss,percentile\nCVE-2026-1,${share},0.9\n`);
    assert.equal((await feeds.importData("epss", scores(0.5, "2026-01-01"), {})).changed, 1);
    // A score that stays is no change, although its document has another date.
    assert.equal((await feeds.importData("epss", scores(0.5, "2026-01-02"), {})).changed, 0);
    assert.equal((await feeds.importData("epss", scores(0.6, "2026-01-03"), {})).changed, 1);
  });
  await installation.importOsv("osv", [
    { id: "GO-1", aliases: ["CVE-2026-1"] },
    { id: "GO-2", aliases: ["CVE-2026-2"] },
  ]);
  const found = await installation.db
    .selectFrom("feed_keys")
    .select(["feed", "record"])
    .where("key", "=", "cve-2026-1")
    .where("kind", "in", ["id", "alias"])
    .orderBy("feed")
    .execute();
  assert.deepEqual(
    found.map(({ feed, record }) => `${feed} ${record}`),
    ["epss CVE-2026-1", "kev CVE-2026-1", "osv GO-1"],
  );
});

test("a removed feed leaves only the note that its records are gone", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  await installation.importOsv("osv", someRecords(2));
  const last = Math.max(...(await installation.records()).map(({ change }) => change));
  assert.deepEqual(await installation.admin((feeds) => feeds.remove("osv")), { removed: 2 });
  const rows = await installation.records();
  assert.deepEqual(
    rows.map(({ removed, body }) => [removed, body]),
    [
      [1, ""],
      [1, ""],
    ],
  );
  assert.ok(rows.every(({ change }) => change > last));
  assert.deepEqual(await installation.keys("id"), []);
  await assert.rejects(
    installation.admin((feeds) => feeds.remove("osv")),
    /there is no feed osv/,
  );
  await installation.admin((feeds) => feeds.add({ ...OSV_FEED, format: "kev" }));
});

test("what an operator says about a feed is checked, and the error names the field", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t);
  const cases: [object, RegExp][] = [
    [{ name: "a b" }, /^Error: name: /],
    [{ format: "toString" }, /^Error: format: must be one of osv, /],
    [{ licence: " " }, /^Error: licence: /],
    [{ licence: "CC-BY-ND-4.0" }, /^Error: licence: does not allow derivatives/],
    [{ address: "http://example.com/all.zip" }, /^Error: address: not an https URL/],
    [{ address: "https://127.0.0.1/all.zip" }, /^Error: address: /],
    [{ interval: "1s" }, /^Error: interval: must be from 1m to 365d/],
    [{ interval: "often" }, /^Error: interval: must be a duration/],
    [{ products: ["pkg:oci/app"] }, /^Error: products: only feeds of VEX/],
    [{ format: "openvex", products: ["app"] }, /^Error: products: /],
    [{ licens: "x" }, /^Error: licens: there is no such field/],
  ];
  for (const [more, message] of cases)
    await assert.rejects(
      installation.admin((feeds) => feeds.add({ ...OSV_FEED, ...more })),
      message,
    );
  await installation.admin((feeds) => feeds.add({ ...OSV_FEED, licence: "Legend of the land" }));
  await assert.rejects(
    installation.admin((feeds) => feeds.add(OSV_FEED)),
    /there is a feed osv already/,
  );
  await assert.rejects(installation.importOsv("other", [{ id: "A-1" }]), /there is no feed other/);
});
