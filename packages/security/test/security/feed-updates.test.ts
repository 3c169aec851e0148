import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import type { FeedsAdmin, Imported } from "../../../server/src/index.ts";
import { fileOf, osv } from "../../../server/test/support/feed-files.ts";
import {
  archiveOf,
  type FeedInstallation,
  importAround,
  OSV_FEED,
  openFeedDeps,
  openFeedInstallation,
  someRecords,
} from "../../../server/test/support/feed-installation.ts";
import { type FeedServer, startFeedServer } from "../../../server/test/support/feed-server.ts";

const TIMEOUT = { timeout: 300_000 };
const LOCAL = { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" };

type Outcome = Parameters<Parameters<FeedsAdmin["update"]>[2]>[1];

/** Updates one feed; an error that was reported is thrown. */
async function update({ admin }: FeedInstallation, feed: string): Promise<Imported | "unchanged"> {
  let outcome: Outcome | undefined;
  await admin((feeds) => feeds.update([feed], {}, (_, result) => (outcome = result)));
  assert.ok(outcome !== undefined);
  if (outcome instanceof Error) throw outcome;
  return outcome;
}

async function withOsv(
  t: TestContext,
): Promise<{ installation: FeedInstallation; server: FeedServer; publish(records: object[], etag: string): void }> {
  const installation = await openFeedInstallation(t, LOCAL);
  const server = await startFeedServer(t);
  await installation.admin((feeds) => feeds.add({ ...OSV_FEED, address: `${server.url}/Go/all.zip` }));
  const publish = (records: object[], etag: string): void =>
    void server.pages.set("/Go/all.zip", { content: readFileSync(archiveOf(t, records)), etag });
  return { installation, server, publish };
}

test("a source that has not changed is not fetched again: by its ETag, or by its time", TIMEOUT, async (t) => {
  const installation = await openFeedInstallation(t, LOCAL);
  const server = await startFeedServer(t);
  const kev = JSON.stringify({ vulnerabilities: [{ cveID: "CVE-1", dateAdded: "2026-01-01" }] });
  await installation.admin(async (feeds) => {
    for (const name of ["etag", "time"])
      await feeds.add({ name, format: "kev", licence: "CC0-1.0", address: `${server.url}/${name}.json` });
  });
  server.pages.set("/etag.json", { content: kev, etag: '"1"' });
  server.pages.set("/time.json", { content: kev, lastModified: "Thu, 01 Jan 2026 00:00:00 GMT" });
  for (const name of ["etag", "time"]) {
    assert.equal(((await update(installation, name)) as Imported).changed, 1);
    const before = await installation.feed(name);
    assert.equal(await update(installation, name), "unchanged");
    const after = await installation.feed(name);
    assert.ok((after?.success_time ?? 0) > (before?.success_time ?? Infinity));
    assert.equal(after?.records, 1);
  }
  assert.deepEqual(
    server.asked.map(({ status }) => status),
    [200, 304, 200, 304],
  );
  server.pages.set("/etag.json", { content: kev.replace("CVE-1", "CVE-2"), etag: '"2"' });
  await assert.rejects(update(installation, "etag"), /it lacks 1 of the 1 records/);
  // A source that was rejected is fetched again.
  await assert.rejects(update(installation, "etag"), /it lacks 1 of the 1 records/);
});

test("of OSV only what changed is fetched, newest first, until a whole archive is due", TIMEOUT, async (t) => {
  const { installation, server, publish } = await withOsv(t);
  const at = (day: number): string => `2026-03-${String(day).padStart(2, "0")}T00:00:00Z`;
  publish(
    [
      { id: "GO-1", modified: at(1) },
      { id: "GO-2", modified: at(2) },
    ],
    '"1"',
  );
  assert.equal(((await update(installation, "osv")) as Imported).changed, 2);
  assert.deepEqual(
    server.asked.map(({ path }) => path),
    ["/Go/all.zip"],
  );

  server.asked.length = 0;
  server.pages.set("/Go/modified_id.csv", {
    content: `${at(4)},GO-3\n${at(3)},GO-1\n${at(3)},GO-GONE\n${at(2)},GO-2\n${at(1)},GO-OLD\n`,
  });
  server.pages.set("/Go/GO-1.json", { content: osv("GO-1", { modified: at(3), aliases: ["CVE-1"] }) });
  server.pages.set("/Go/GO-2.json", { content: osv("GO-2", { modified: at(2) }) });
  server.pages.set("/Go/GO-3.json", { content: osv("GO-3", { modified: at(4) }) });
  const increment = (await update(installation, "osv")) as Imported;
  assert.deepEqual([increment.records, increment.changed, increment.removed], [3, 2, 0]);
  assert.deepEqual(server.asked.map(({ path }) => path).toSorted(), [
    "/Go/GO-1.json",
    "/Go/GO-2.json",
    "/Go/GO-3.json",
    "/Go/GO-GONE.json",
    "/Go/modified_id.csv",
  ]);
  assert.deepEqual(
    (await installation.records()).map(({ id }) => id),
    ["GO-1", "GO-2", "GO-3"],
  );
  assert.equal((await installation.feed("osv"))?.newest, Date.parse(at(4)));

  // A record that cannot be had ends the update: it must not be left out for good.
  server.pages.set("/Go/modified_id.csv", { content: `${at(6)},GO-5\n${at(5)},GO-4\n` });
  server.pages.set("/Go/GO-5.json", { content: osv("GO-5", { modified: at(6) }) });
  server.pages.set("/Go/GO-4.json", { status: 503 });
  await assert.rejects(update(installation, "osv"), /GO-4\.json answers 503/);
  assert.equal((await installation.feed("osv"))?.newest, Date.parse(at(4)));
  assert.match((await installation.feed("osv"))?.error ?? "", /GO-4\.json answers 503/);

  // An empty list does not mean that nothing has changed: the archive is asked.
  server.pages.set("/Go/modified_id.csv", { content: "" });
  server.asked.length = 0;
  await update(installation, "osv");
  assert.deepEqual(
    server.asked.map(({ path }) => path),
    ["/Go/modified_id.csv", "/Go/all.zip"],
  );

  await installation.db
    .updateTable("feeds")
    .set({ full_time: Date.now() - 8 * 86_400_000 })
    .execute();
  publish([{ id: "GO-2", modified: at(2) }, { id: "GO-3", modified: at(4) }, ...someRecords(20)], '"2"');
  await installation.importOsv("osv", someRecords(20), { isPart: true });
  server.asked.length = 0;
  assert.equal(((await update(installation, "osv")) as Imported).removed, 1);
  assert.deepEqual(
    server.asked.map(({ path }) => path),
    ["/Go/all.zip"],
  );
});

test("failures of a source are reported and noted, and leave what is there", TIMEOUT, async (t) => {
  const { installation, server, publish } = await withOsv(t);
  publish([{ id: "GO-1" }], '"1"');
  await update(installation, "osv");
  await installation.db.updateTable("feeds").set({ full_time: 0 }).execute();
  const before = await installation.records();
  const other = await startFeedServer(t);
  const whole = readFileSync(archiveOf(t, [{ id: "GO-1" }, { id: "GO-2" }]));
  const failures: [Parameters<typeof server.pages.set>[1], RegExp][] = [
    [{ status: 500 }, /all\.zip answers 500$/],
    [
      { content: whole.subarray(0, 50), headers: { "content-length": "500" }, breaksOff: true },
      /all\.zip: it could not be reached in time$/,
    ],
    [{ content: whole.subarray(0, 80) }, /is not a zip archive/],
    [{ content: "<html>maintenance</html>" }, /all\.zip: is not JSON/],
    [{ status: 302, headers: { location: "/Go/all.zip" } }, /redirects more than 5 times$/],
    [{ status: 302, headers: { location: "ftp://example.com/" } }, /not an https URL$/],
    [{ content: whole, headers: { "content-encoding": "gzip" } }, /the answer is encoded$/],
  ];
  for (const [page, message] of failures) {
    server.pages.set("/Go/all.zip", page);
    await assert.rejects(update(installation, "osv"), message);
    assert.match((await installation.feed("osv"))?.error ?? "", message);
    assert.deepEqual(await installation.records(), before);
  }
  other.pages.set("/moved.zip", { content: whole });
  server.pages.set("/Go/all.zip", { status: 302, headers: { location: `${other.url}/moved.zip` } });
  assert.equal(((await update(installation, "osv")) as Imported).changed, 1);
  assert.equal((await installation.feed("osv"))?.error, "");
});

test("a fetch that fails or finds nothing new leaves an import that is under way alone", TIMEOUT, async (t) => {
  const { installation, server, publish } = await withOsv(t);
  publish(someRecords(300), '"1"');
  await update(installation, "osv");
  const deps = await openFeedDeps(t, installation);
  const outcomes: string[] = [];
  const attempted = async (): Promise<void> => {
    outcomes.push(await update(installation, "osv").then(String, (error: Error) => error.message));
  };
  server.pages.set("/Go/all.zip", { status: 500 });
  await installation.db.updateTable("feeds").set({ full_time: 0 }).execute();
  const changed = someRecords(300).map((record) => ({ ...record, aliases: ["CVE-1"] }));
  assert.equal((await importAround(t, deps, changed, { work: attempted })).changed, 300);
  assert.equal((await installation.feed("osv"))?.error, "", "the import that ended later succeeded");

  publish(someRecords(300), '"1"');
  await installation.db.updateTable("feeds").set({ full_time: 0 }).execute();
  const more = someRecords(301);
  assert.equal((await importAround(t, deps, more, { work: attempted })).changed, 301);
  assert.match(outcomes[0] ?? "", /all\.zip answers 500$/);
  assert.equal(outcomes[1], "unchanged");
});

test(
  "without the permission for private networks nothing there is fetched, by a redirect neither",
  TIMEOUT,
  async (t) => {
    const server = await startFeedServer(t);
    const file = fileOf(t, "feeds.yaml", "");
    const installation = await openFeedInstallation(t, { MOORAGE_FEEDS_FILE: file });
    writeFileSync(file, `- {name: inside, format: kev, licence: CC0-1.0, address: "https://127.0.0.1/kev.json"}\n`);
    await assert.rejects(
      installation.admin((feeds) => feeds.update([], {}, () => {})),
      {
        message: `MOORAGE_FEEDS_FILE: ${file}: feed 1 (inside): address: the address is not a public one`,
      },
    );
    writeFileSync(file, `- {name: inside, format: kev, licence: CC0-1.0, address: "https://localhost:1/kev.json"}\n`);
    const outcomes: Outcome[] = [];
    await installation.admin((feeds) => feeds.update([], {}, (_, outcome) => outcomes.push(outcome)));
    assert.match(String(outcomes[0]), /the address is not a public one|it could not be reached/);
    assert.deepEqual(server.asked, []);
  },
);

test("the feeds of the file are its own; what it leaves out is kept, but not fetched any more", TIMEOUT, async (t) => {
  const file = fileOf(t, "feeds.json", "");
  const installation = await openFeedInstallation(t, { ...LOCAL, MOORAGE_FEEDS_FILE: file });
  const server = await startFeedServer(t);
  server.pages.set("/kev.json", {
    content: JSON.stringify({ vulnerabilities: [{ cveID: "CVE-1", dateAdded: "2026-01-01" }] }),
  });
  const kev = { name: "kev", format: "kev", licence: "CC0-1.0", address: `${server.url}/kev.json`, interval: "1d" };
  const updateAll = async (): Promise<string[]> => {
    const updated: string[] = [];
    await installation.admin((feeds) => feeds.update([], {}, (feed) => updated.push(feed)));
    return updated;
  };
  writeFileSync(file, JSON.stringify([kev]));
  assert.deepEqual(await updateAll(), ["kev"]);
  assert.equal((await installation.feed("kev"))?.interval_ms, 86_400_000);
  await assert.rejects(
    installation.admin((feeds) => feeds.remove("kev")),
    /is of MOORAGE_FEEDS_FILE/,
  );
  await assert.rejects(
    installation.admin((feeds) => feeds.add({ ...kev })),
    /there is a feed kev already/,
  );
  writeFileSync(file, JSON.stringify([{ ...kev, format: "epss" }]));
  await assert.rejects(updateAll(), /^Error: MOORAGE_FEEDS_FILE: the feed kev has the format kev/);
  writeFileSync(file, "[]");
  assert.deepEqual(await updateAll(), []);
  const left = await installation.feed("kev");
  assert.deepEqual([left?.records, left?.address], [1, ""]);
  assert.deepEqual(await installation.admin((feeds) => feeds.remove("kev")), { removed: 1 });
  for (const [content, message] of [
    ["{a: 1}", /must be a list of feeds/],
    ["[1", /cannot be read as YAML or JSON/],
    [JSON.stringify([kev, kev]), /feed 2 \(kev\): name: is there already/],
    [JSON.stringify([{ ...kev, intervall: "1d" }]), /feed 1 \(kev\): intervall: there is no such field/],
  ] as const) {
    writeFileSync(file, content);
    await assert.rejects(updateAll(), message);
  }
});
