import assert from "node:assert/strict";
import { test } from "node:test";
import { fileOf } from "../../../server/test/support/feed-files.ts";
import { OSV_FEED, openFeedInstallation, someRecords } from "../../../server/test/support/feed-installation.ts";
import {
  addImage,
  before,
  findings,
  npm,
  openMatching,
  openOnes,
  type TestPackage,
} from "../../../server/test/support/matching.ts";
import { rowsRead, statementsRun } from "../../../server/test/support/statements.ts";
import { ENGINE } from "../../../server/test/support/database.ts";

const [ONE, TWO] = [npm("left-pad", "1.0.0"), npm("left-pad", "2.0.0")];

test("a finding is opened, followed and closed as its record changes, and none is removed", async (t) => {
  const installation = await openFeedInstallation(t);
  const { db, admin, importOsv } = installation;
  const { match } = await openMatching(t, installation);
  await admin((feeds) => feeds.add(OSV_FEED));
  const say = async (nowMs: number, record?: object): Promise<void> => {
    await importOsv("osv", [{ id: "OTHER" }, ...(record === undefined ? [] : [{ id: "A", ...record }])], {
      allowShrink: true,
    });
    await match(nowMs);
  };
  // The package is there first, then the record.
  await addImage(db, "sha256:a", [ONE, TWO]);
  await match(1_000);
  await say(2_000, before("left-pad", "1.5.0"));
  assert.deepEqual(await openOnes(db), ["left-pad 1.0.0 A"]);
  // Something about it that does not matter here.
  await say(3_000, { ...before("left-pad", "1.5.0"), summary: "more words" });
  // Another fix, then one that leaves the package alone, then the first again.
  await say(4_000, before("left-pad", "1.6.0"));
  await say(5_000, before("left-pad", "1.0.0"));
  await say(6_000, before("left-pad", "3.0.0"));
  assert.deepEqual(await openOnes(db), ["left-pad 1.0.0 A", "left-pad 2.0.0 A"]);
  await say(7_000, { ...before("left-pad", "3.0.0"), withdrawn: "2026-01-01T00:00:00Z" });
  assert.deepEqual(await openOnes(db), []);
  await say(8_000, before("left-pad", "3.0.0"));
  await say(9_000);
  const rows = (await findings(db)).map((row) => [
    row.version,
    row.opened,
    row.since,
    row.closed,
    row.reason_opened,
    row.reason_closed,
    row.fixed,
  ]);
  assert.deepEqual(rows, [
    ["1.0.0", 2_000, 2_000, 4_000, "RECORD", "CHANGED", '["1.5.0"]'],
    ["1.0.0", 4_000, 2_000, 5_000, "RECORD", "CHANGED", '["1.6.0"]'],
    ["1.0.0", 6_000, 6_000, 7_000, "RECORD", "WITHDRAWN", '["3.0.0"]'],
    ["1.0.0", 8_000, 8_000, 9_000, "RECORD", "REMOVED", '["3.0.0"]'],
    ["2.0.0", 6_000, 6_000, 7_000, "RECORD", "WITHDRAWN", '["3.0.0"]'],
    ["2.0.0", 8_000, 8_000, 9_000, "RECORD", "REMOVED", '["3.0.0"]'],
  ]);
});

test("a package that is new finds the records that are there, also when they are many", async (t) => {
  const installation = await openFeedInstallation(t);
  const { db, admin, importOsv } = installation;
  const { match } = await openMatching(t, installation);
  await admin((feeds) => feeds.add(OSV_FEED));
  // More pairs than one transaction compares, of one package and of several.
  const records = someRecords(1_300).map((record) => ({ ...record, ...before("left-pad", "1.5.0") }));
  await importOsv("osv", records);
  await match(1_000);
  await addImage(db, "sha256:a", [ONE, TWO, npm("left-pad", "0.1.0"), npm("other", "1.0.0")]);
  await match(2_000);
  const rows = await findings(db);
  assert.deepEqual(
    [...Map.groupBy(rows, ({ version }) => version)].map(([version, of]) => [version, of.length]),
    [
      ["0.1.0", 1_300],
      ["1.0.0", 1_300],
    ],
  );
  assert.ok(rows.every(({ reason_opened: reason, opened }) => reason === "PACKAGE" && opened === 2_000));
  const waiting = await db.selectFrom("packages").select("name").where("matched", "is", null).execute();
  assert.deepEqual(waiting, []);
});

test("distributions match by source package and release alone", async (t) => {
  const installation = await openFeedInstallation(t);
  const { db, admin } = installation;
  const { match } = await openMatching(t, installation);
  const deb = (name: string, version: string, release: string): TestPackage => ({
    purl: `pkg:deb/debian/${name}@${version}?arch=amd64&distro=debian-${release}`,
    name,
    version,
    sourceName: "openssl",
  });
  const apk: TestPackage = {
    purl: "pkg:apk/alpine/libcrypto3@3.1.4-r0?arch=x86_64&distro=alpine-3.20.3",
    name: "libcrypto3",
    version: "3.1.4-r0",
    sourceName: "openssl",
  };
  await addImage(db, "sha256:a", [deb("libssl3", "3.0.11-1", "12"), deb("libssl1", "1.1.1-1", "11"), apk]);
  await addImage(db, "sha256:b", [npm("openssl", "1.0.0")]);
  const tracker = {
    openssl: {
      "CVE-2026-1": { releases: { bookworm: { status: "resolved", fixed_version: "3.0.12-1" } } },
      "CVE-2026-2": { releases: { bookworm: { status: "resolved", fixed_version: "0" } } },
    },
    // The name of the package that was built is not that of its source.
    libssl3: { "CVE-2026-3": { releases: { bookworm: { status: "open" } } } },
  };
  const secdb = {
    distroversion: "v3.20",
    reponame: "main",
    packages: [{ pkg: { name: "openssl", secfixes: { "3.1.5-r0": ["CVE-2026-1"], "3.1.4-r0": ["CVE-2026-4"] } } }],
  };
  await admin(async (feeds) => {
    await feeds.add({ name: "debian", format: "debian-tracker", licence: "MIT" });
    await feeds.add({ name: "alpine", format: "alpine-secdb", licence: "MIT" });
    await feeds.importData("debian", fileOf(t, "tracker.json", JSON.stringify(tracker)), {});
    await feeds.importData("alpine", fileOf(t, "main.json", JSON.stringify(secdb)), {});
  });
  await match(1_000);
  assert.deepEqual(await openOnes(db), [
    "libcrypto3 3.1.4-r0 v3.20/main/openssl/CVE-2026-1",
    "libssl3 3.0.11-1 openssl/CVE-2026-1",
  ]);
  await admin((feeds) => feeds.remove("debian"));
  await match(2_000);
  assert.deepEqual(await openOnes(db), ["libcrypto3 3.1.4-r0 v3.20/main/openssl/CVE-2026-1"]);
});

test("what a change of feeds costs does not depend on the number of images", async (t) => {
  const costs: { statements: number; rows: number }[] = [];
  for (const images of [1, 200]) {
    // Their own content each: what a record says is parsed once in a process.
    const installation = await openFeedInstallation(t);
    const { db, admin, importOsv } = installation;
    const { store, match } = await openMatching(t, installation);
    await admin((feeds) => feeds.add(OSV_FEED));
    const packages = Array.from({ length: 50 }, (_, n) => npm(`package-${n}`, "1.0.0"));
    for (let n = 0; n < images; n += 1) await addImage(db, `sha256:${n}`, packages);
    await importOsv(
      "osv",
      someRecords(100).map((record) => ({ ...record, ...before("nothing", "1.0.0") })),
    );
    await match(1_000);
    await importOsv(
      "osv",
      someRecords(100).map((record, n) => ({ ...record, ...before(`package-${n}`, "2.0.0"), summary: `${images}` })),
    );
    const ran = await statementsRun(() => match(2_000));
    assert.equal((await openOnes(db)).length, 50);
    const texts = ran.map(({ text }) => text);
    assert.ok(texts.some((text) => text.includes("package_findings")));
    assert.deepEqual(
      texts.filter((text) => /image_packages|image_catalogs|manifests/.test(text)),
      [],
    );
    let rows = 0;
    if (ENGINE === "postgres")
      for (const each of ran.filter(({ text }) => /^\s*(?:select|with)\b/i.test(text) && !text.includes("pg_")))
        rows += await rowsRead(store.reader, each);
    costs.push({ statements: texts.length, rows });
  }
  const [one, many] = costs;
  assert.equal(many?.statements, one?.statements);
  // PostgreSQL may choose another plan by what it knows of the tables just then; by images it would be 200 times.
  assert.ok((many?.rows ?? Infinity) <= 2 * (one?.rows ?? 0), JSON.stringify(costs));
});
