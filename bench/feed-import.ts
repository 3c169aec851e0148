// An import of a feed into a fresh SQLite database, or the inserts of the same rows by the engine alone, in its own
// process. Reads a FeedWork as JSON from standard input, and prints records a second and the peak of its memory.
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { systemCall } from "../packages/kernel/src/core/system-call.ts";
import { loadConfig } from "../packages/server/src/index.ts";
import { openCommandWriter } from "../packages/server/src/installation/stores.ts";
import { systemClock } from "../packages/kernel/src/lib/clock.ts";
import { fileSource, importFeed, putFeeds } from "../packages/security/src/security/index.ts";
import { databasePath, openStore } from "../packages/kernel/src/store/index.ts";
import { answer, mappedMib, peakMib } from "./processes.ts";

export type FeedWork =
  /** Imports the archive of OSV records. */
  | { work: "import"; dataDir: string; archive: string }
  /** Inserts the records and keys that `from`, a data folder, has from such an import. */
  | { work: "alone"; dataDir: string; from: string };

/** `peakMib`: the most resident memory of the whole process; `mappedMib`: how much of it is mapped files at the end. */
export interface FeedResult {
  records: number;
  perSecond: number;
  peakMib: number;
  mappedMib: number;
}

// As many records as an import writes in one transaction.
const BATCH = 200;
const FEED = { name: "bench", format: "osv", address: "", licence: "CC0-1.0", intervalMs: 1, products: [] } as const;

interface Done {
  records: number;
  ms: number;
  mappedMib: number;
}

async function imported(dataDir: string, archive: string): Promise<Done> {
  const config = loadConfig({ MOORAGE_DATA_DIR: dataDir });
  const store = await openStore(config);
  await store.migrate();
  const transactor = await openCommandWriter(store, config, (error) => {
    throw error;
  });
  const deps = { transactor, reader: store.reader, clock: systemClock };
  const feeds = [{ ...FEED, products: [] }];
  await transactor.write(putFeeds, systemCall(1), { feeds, origin: "command", mustBeNew: true });
  const began = performance.now();
  const { records, problems } = await importFeed(deps, FEED.name, await fileSource("osv", archive));
  const ms = performance.now() - began;
  const mapped = mappedMib(process.pid) ?? Number.NaN;
  if (problems > 0) throw new Error(`${problems} records could not be read`);
  await transactor.close();
  await store.close();
  return { records, ms, mappedMib: mapped };
}

async function inserted(dataDir: string, from: string): Promise<Done> {
  const store = await openStore(loadConfig({ MOORAGE_DATA_DIR: dataDir }));
  await store.migrate();
  await store.close();
  const source = new DatabaseSync(databasePath(from), { readOnly: true });
  const rowsOf = (table: string, order: string): SQLInputValue[][] => {
    const all = source.prepare(`select * from ${table} order by ${order}`);
    all.setReturnArrays(true);
    return all.all() as unknown as SQLInputValue[][];
  };
  const records = rowsOf("feed_records", "change");
  const keys = Map.groupBy(rowsOf("feed_keys", "record"), (row) => row[3]);
  source.close();
  const database = new DatabaseSync(databasePath(dataDir));
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  const insertInto = (table: string, columns: number) =>
    database.prepare(`insert into ${table} values (${Array.from({ length: columns }, () => "?").join(", ")})`);
  const [putRecord, putKey] = [insertInto("feed_records", 10), insertInto("feed_keys", 4)];
  const began = performance.now();
  for (let at = 0; at < records.length; at += BATCH) {
    database.exec("begin immediate");
    for (const record of records.slice(at, at + BATCH)) {
      putRecord.run(...record);
      for (const key of keys.get(record[1] ?? "") ?? []) putKey.run(...key);
    }
    database.exec("commit");
  }
  const ms = performance.now() - began;
  database.close();
  return { records: records.length, ms, mappedMib: 0 };
}

await answer<FeedWork>(async (input): Promise<FeedResult> => {
  const { dataDir } = input;
  const {
    records,
    ms,
    mappedMib: mapped,
  } = await (input.work === "import" ? imported(dataDir, input.archive) : inserted(dataDir, input.from));
  return {
    records,
    perSecond: (records * 1000) / ms,
    // Not `maxRSS`: on Linux a process inherits that from the one that started it.
    peakMib: peakMib(process.pid) ?? Number.NaN,
    mappedMib: mapped,
  };
});
