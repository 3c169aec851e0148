import assert from "node:assert/strict";
import { test } from "node:test";
import { SILENT } from "../../../server/src/admin/progress.ts";
import { checkInstallation, type FsckResult, loadConfig } from "../../../server/src/index.ts";
import type { Tables } from "../../../kernel/src/store/tables.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { cycloneDx } from "../../../server/test/support/catalog/documents.ts";
import { pushArtifact, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { databaseEnv } from "../../../server/test/support/database.ts";
import {
  archiveOf,
  type FeedInstallation,
  OSV_FEED,
  openFeedInstallation,
} from "../../../server/test/support/feed-installation.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// What fsck finds in the tables of feeds and of what images hold: the tests damage rows, as a fault of the disk or of
// the server would.

const TIMEOUT = { timeout: 300_000 };
const TABLES = [
  "feeds",
  "feed_records",
  "feed_keys",
  "feed_problems",
  "feed_statements",
  "feed_statement_keys",
  "feed_changes",
  "image_catalogs",
  "packages",
  "image_packages",
] as const satisfies readonly (keyof Tables)[];

/** An installation with a feed and an image whose packages are known; its server has ended. */
async function open(t: Parameters<typeof openFeedInstallation>[0]) {
  const feeds = await openFeedInstallation(t);
  const dataDir = feeds.env["MOORAGE_DATA_DIR"] ?? "";
  const server = await startInstallation(t, { ...(await databaseEnv(dataDir)), MOORAGE_CATALOG_IMAGES: "1" }, dataDir);
  const { url, registry, bootstrap } = server;
  const layer = tarOf([npmFile("app", "lodash", "4.17.20"), npmFile("app", "react", "18.0.0")]);
  await pushLayers({ url, token: registry, name: `${bootstrap.organization.name}/app` }, "v1", [layer]);
  // Its packages are compared with feeds soon after.
  const isRead = async (): Promise<boolean> => {
    const images = await feeds.db.selectFrom("image_catalogs").select("state").execute();
    const packages = await feeds.db.selectFrom("packages").select("matched").execute();
    return images[0]?.state === 2 && packages.every(({ matched }) => matched !== null);
  };
  await eventually(isRead);
  await server.close();
  await feeds.admin((admin) => admin.add(OSV_FEED));
  await feeds.importOsv("osv", [
    { id: "GO-1", aliases: ["CVE-1"] },
    { id: "GO-2", withdrawn: "2026-02-01T00:00:00Z" },
    { id: "GO-3", modified: "never" },
  ]);
  const config = loadConfig(feeds.env);
  const fsck = (repair: boolean): Promise<FsckResult> => checkInstallation(config, { repair, deep: false }, SILENT);
  return { ...feeds, fsck };
}

/** All rows of the tables, without up to which change they were compared. */
async function contentOf({ db }: Pick<FeedInstallation, "db">): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of TABLES)
    found[table] = (await db.selectFrom(table).selectAll().execute())
      .map((row) => JSON.stringify({ ...row, matched: undefined }))
      .toSorted();
  return found;
}

test("faults in the rows of feeds and catalogs are found and repaired", TIMEOUT, async (t) => {
  const installation = await open(t);
  const { db, fsck } = installation;
  assert.deepEqual((await fsck(false)).findings, []);
  const key = { kind: "alias", key: "cve-9", feed: "osv", record: "GO-9" };
  const catalog = await db.selectFrom("image_catalogs").selectAll().executeTakeFirstOrThrow();
  const [held] = await db.selectFrom("image_packages").selectAll().execute();
  assert.ok(held !== undefined);
  // The repair of each of these restores what was there.
  const cases: [kinds: string[], damage: () => Promise<unknown>][] = [
    [["feed-key-stale"], () => db.insertInto("feed_keys").values(key).execute()],
    [
      ["feed-problem-without-feed"],
      () =>
        db
          .insertInto("feed_problems")
          .values({ feed: "x", n: 0, record: "", position: "", message: "", kind: "UNREADABLE" })
          .execute(),
    ],
    [["feed-statement-not-searchable"], () => db.deleteFrom("feed_statement_keys").execute()],
    [
      ["feed-statement-key-stale"],
      () =>
        db
          .insertInto("feed_statement_keys")
          .values({ key: "x", vulnerability: "cve-1", feed: "x", record: "1", n: 0 })
          .execute(),
    ],
    [["feed-counts-wrong"], () => db.updateTable("feeds").set({ records: 7 }).execute()],
    [["feed-counts-wrong"], () => db.updateTable("feeds").set({ withdrawn: 0 }).execute()],
    [["feed-changes-behind"], () => db.updateTable("feed_changes").set({ value: 1 }).execute()],
    [["feed-changes-behind"], () => db.deleteFrom("feed_changes").execute()],
    [
      ["image-package-without-catalog"],
      () =>
        db
          .insertInto("image_packages")
          .values({ ...held, digest: `sha256:${"0".repeat(64)}` })
          .execute(),
    ],
    [
      ["package-without-image"],
      () =>
        db
          .insertInto("packages")
          .values({
            id: "0".repeat(32),
            ecosystem: "npm",
            source_name: "x",
            source_version: "1",
            purl: "pkg:npm/x@1",
            name: "x",
            version: "1",
            licence: "",
            matched: null,
          })
          .execute(),
    ],
  ];
  const said = { feed: "vex", record: "1", n: 0, key: "npm//left-pad" };
  await db
    .insertInto("feed_statements")
    .values({
      ...said,
      from_time: 1,
      until_time: null,
      since: 1,
      hash: "",
      ids: '["cve-1"]',
      status: "fixed",
      justification: "",
      impact: "",
      product: "pkg:npm/left-pad",
      component: "",
      author: "",
      time: 1,
    })
    .execute();
  await db
    .insertInto("feed_statement_keys")
    .values({ ...said, vulnerability: "cve-1" })
    .execute();
  const before = await contentOf(installation);
  for (const [kinds, damage] of cases) {
    await damage();
    const found = await fsck(false);
    assert.deepEqual(
      found.findings.map(({ kind }) => kind),
      kinds,
    );
    assert.equal((await fsck(true)).clean, true);
    assert.deepEqual(await contentOf(installation), before, kinds.join());
  }

  // A record that nothing finds is written again by the next import.
  await db.deleteFrom("feed_keys").where("record", "=", "GO-1").execute();
  assert.deepEqual(
    (await fsck(true)).findings.map(({ kind }) => kind),
    ["feed-record-not-searchable"],
  );
  const again = archiveOf(t, [{ id: "GO-1", aliases: ["CVE-1"] }]);
  assert.equal((await installation.admin((feeds) => feeds.importData("osv", again, { isPart: true }))).changed, 1);
  assert.deepEqual(await installation.keys("alias"), ["cve-1 of GO-1"]);
  assert.deepEqual((await fsck(false)).findings, []);

  // A record without its feed is gone, with a change number as any other that is removed.
  const { value } = await db.selectFrom("feed_changes").select("value").executeTakeFirstOrThrow();
  await db.deleteFrom("feeds").execute();
  const orphans = await fsck(true);
  assert.deepEqual(orphans.findings.map(({ kind }) => kind).toSorted(), [
    "feed-problem-without-feed",
    "feed-record-without-feed",
  ]);
  assert.equal(orphans.clean, true);
  const records = await installation.records();
  assert.deepEqual(
    records.map(({ removed, body, change }) => [removed, body, Number(change) > Number(value)]),
    [
      [1, "", true],
      [1, "", true],
    ],
  );
  assert.deepEqual(await installation.keys("id"), []);

  // An image whose packages are lost is read again by the next server.
  await db.deleteFrom("packages").where("id", "=", held.package).execute();
  const lost = await fsck(true);
  assert.equal(lost.clean, true, JSON.stringify(lost.findings));
  assert.deepEqual(
    lost.findings.map(({ kind }) => kind),
    ["image-package-without-package", "package-keys-without-package"],
  );
  const dataDir = installation.env["MOORAGE_DATA_DIR"] ?? "";
  const server = await startInstallation(t, { ...(await databaseEnv(dataDir)), MOORAGE_CATALOG_IMAGES: "1" }, dataDir);
  const state = async (): Promise<number | undefined> =>
    (await db.selectFrom("image_catalogs").select("state").where("digest", "=", catalog.digest).executeTakeFirst())
      ?.state;
  await eventually(async () => (await state()) === 2);
  const restored = await contentOf(installation);
  assert.deepEqual(restored["packages"], before["packages"]);
  assert.deepEqual(restored["image_packages"], before["image_packages"]);
  await server.close();
});

test("faults in what is attached to images are found, and what was lost is read again", TIMEOUT, async (t) => {
  const feeds = await openFeedInstallation(t);
  const { db, env } = feeds;
  const dataDir = env["MOORAGE_DATA_DIR"] ?? "";
  const start = async () =>
    await startInstallation(t, { ...(await databaseEnv(dataDir)), MOORAGE_CATALOG_IMAGES: "1" }, dataDir);
  const first = await start();
  const place = { url: first.url, token: first.registry, name: `${first.bootstrap.organization.name}/app` };
  const digest = await pushLayers(place, "v1", [tarOf([npmFile("app", "lodash", "4.17.20")])]);
  const type = "application/vnd.cyclonedx+json";
  const analysis = {
    metadata: { timestamp: "2026-11-03T08:00:00Z" },
    vulnerabilities: [
      { id: "CVE-2026-1", analysis: { state: "not_affected" }, affects: [{ ref: "pkg:npm/stated@1.0.0" }] },
    ],
  };
  const layers = [{ mediaType: type, content: cycloneDx(["stated"], analysis) }];
  const manifest = await pushArtifact(place, { artifactType: type, subject: digest, layers });
  /** Until all is read, and compared with feeds. */
  const isRead = async (): Promise<boolean> => {
    const images = await db.selectFrom("image_catalogs").select("state").execute();
    const attached = await db.selectFrom("attached_readings").select("state").execute();
    const packages = await db.selectFrom("packages").select("matched").execute();
    return (
      [images, attached].every((rows) => rows.length === 1 && rows[0]?.state === 2) &&
      packages.length === 2 &&
      packages.every(({ matched }) => matched !== null)
    );
  };
  await eventually(isRead);
  await first.close();
  const fsck = (repair: boolean): Promise<FsckResult> =>
    checkInstallation(loadConfig(env), { repair, deep: false }, SILENT);
  assert.deepEqual((await fsck(false)).findings, []);
  const tables = ["image_catalogs", "attached_documents", "attached_statements", "image_packages"] as const;
  const content = async (): Promise<string[]> => {
    const rows: string[] = [];
    for (const table of tables)
      for (const row of await db.selectFrom(table).selectAll().execute())
        rows.push(JSON.stringify({ ...row, backlog: 0, create_time: 0, finish_time: 0, attempts: 0 }));
    return rows.sort();
  };
  const before = await content();
  const other = `sha256:${"0".repeat(64)}`;
  const document = await db.selectFrom("attached_documents").selectAll().executeTakeFirstOrThrow();
  const statement = await db.selectFrom("attached_statements").selectAll().executeTakeFirstOrThrow();
  // The repair of the first two removes a row; all others are whole again once a server has read what was lost.
  const cases: [kinds: string[], damage: () => Promise<unknown>][] = [
    [
      ["attached-document-without-reading"],
      () =>
        db
          .insertInto("attached_documents")
          .values({ ...document, manifest: other })
          .execute(),
    ],
    [
      ["attached-statement-without-document"],
      () =>
        db
          .insertInto("attached_statements")
          .values({ ...statement, n: 7 })
          .execute(),
    ],
    [["attached-document-incomplete"], () => db.deleteFrom("attached_statements").execute()],
    [
      ["attached-document-incomplete", "package-without-image"],
      () => db.deleteFrom("image_packages").where("source", "=", `${manifest}/0`).execute(),
    ],
    [
      ["attachment-without-reading", "image-package-without-catalog", "attached-document-without-reading"],
      () => db.deleteFrom("attached_readings").execute(),
    ],
    [["image-without-catalog", "image-package-without-catalog"], () => db.deleteFrom("image_catalogs").execute()],
  ];
  for (const [kinds, damage] of cases) {
    await damage();
    const found = (await fsck(false)).findings.map(({ kind }) => kind);
    assert.deepEqual(found.toSorted(), kinds.toSorted());
    const repaired = await fsck(true);
    assert.equal(repaired.clean, true, JSON.stringify(repaired.findings));
    const server = await start();
    await eventually(isRead);
    await server.close();
    assert.deepEqual(await content(), before, kinds.join());
  }
});

test("an import that is under way, or was killed, is no fault", TIMEOUT, async (t) => {
  const { db, fsck } = await open(t);
  await db.updateTable("feeds").set({ run: "somebody", records: 7 }).execute();
  assert.deepEqual((await fsck(false)).findings, []);
});
