import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { type FeedsAdmin, type Imported, loadConfig, withFeeds } from "../../src/index.ts";
import { openCommandWriter } from "../../src/installation/stores.ts";
import { systemClock } from "../../../kernel/src/lib/clock.ts";
import { fileSource } from "../../../security/src/security/feeds/source.ts";
import { type FeedDeps, importFeed, type ImportOptions } from "../../../security/src/security/index.ts";
import type { Database, Row } from "../../../kernel/src/store/index.ts";
import { databaseEnv, dropDatabase, openTestStore } from "./database.ts";
import { fileOf, osv } from "./feed-files.ts";
import { zipOf } from "./zip.ts";

/** An empty installation whose feeds a test works on as an operator does, and its database. */
export interface FeedInstallation {
  env: Record<string, string>;
  db: Database;
  admin<T>(work: (feeds: FeedsAdmin) => Promise<T>): Promise<T>;
  /** Imports these records into the feed as an archive. */
  importOsv(
    feed: string,
    records: readonly object[],
    options?: { allowShrink?: boolean; isPart?: boolean },
  ): ReturnType<FeedsAdmin["importData"]>;
  feed(name: string): Promise<Row<"feeds"> | undefined>;
  /** All records in the order of their ids. */
  records(): Promise<Row<"feed_records">[]>;
  /** The keys of a kind, as `key of record`. */
  keys(kind: string): Promise<string[]>;
}

export async function openFeedInstallation(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<FeedInstallation> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "moorage-feeds-"));
  const settings = { MOORAGE_DATA_DIR: dataDir, ...(await databaseEnv(dataDir)), ...env };
  const { db, close } = await openTestStore(dataDir);
  t.after(async () => {
    await close();
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  });
  const admin: FeedInstallation["admin"] = (work) => withFeeds(loadConfig(settings), work);
  return {
    env: settings,
    db,
    admin,
    importOsv: (feed, records, options = {}) =>
      admin((feeds) => feeds.importData(feed, archiveOf(t, records), options)),
    feed: (name) => db.selectFrom("feeds").selectAll().where("name", "=", name).executeTakeFirst(),
    records: () => db.selectFrom("feed_records").selectAll().orderBy("feed").orderBy("id").execute(),
    keys: async (kind) =>
      (
        await db.selectFrom("feed_keys").selectAll().where("kind", "=", kind).orderBy("key").orderBy("record").execute()
      ).map(({ key, record }) => `${key} of ${record}`),
  };
}

/** An archive of OSV records, each in a file of its own; what they lack is filled in. */
export function archiveOf(t: TestContext, records: readonly object[]): string {
  const entries = records.map((record) => {
    const { id, ...more } = record as { id: string };
    return { name: `${id}.json`, content: osv(id, more) };
  });
  return fileOf(t, "all.zip", zipOf(entries));
}

/** What imports of this process need; `onRetry` is called when a transaction begins again. */
export async function openFeedDeps(
  t: TestContext,
  { env }: FeedInstallation,
  onRetry: () => void = () => {},
): Promise<FeedDeps> {
  const config = loadConfig(env);
  const { store, close } = await openTestStore(config.dataDir, { onRetry });
  t.after(close);
  const transactor = await openCommandWriter(store, config, (error) => {
    throw error;
  });
  t.after(() => transactor.close());
  return { transactor, reader: store.reader, clock: systemClock };
}

/** Imports the records as an archive, and does the work in the middle, when some of them are written. */
export async function importAround(
  t: TestContext,
  deps: FeedDeps,
  records: readonly object[],
  { feed = "osv", options, work }: { feed?: string; options?: ImportOptions; work: () => Promise<unknown> },
): Promise<Imported> {
  const source = await fileSource("osv", archiveOf(t, records));
  let count = 0;
  return importFeed(
    deps,
    feed,
    {
      isSnapshot: true,
      async *read() {
        for await (const each of source.read()) {
          count += 1;
          if (count === 250) await work();
          yield each;
        }
      },
    },
    options,
  );
}

/** Records `<prefix>-0001` and so on. */
export const someRecords = (count: number, prefix = "A"): { id: string }[] =>
  Array.from({ length: count }, (_, at) => ({ id: `${prefix}-${String(at + 1).padStart(4, "0")}` }));

/** An OSV feed as `moorage feeds add` has it. */
export const OSV_FEED = { name: "osv", format: "osv", licence: "CC-BY-4.0" };
