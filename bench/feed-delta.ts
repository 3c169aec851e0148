// An import of records that changed into a feed whose records affect packages of many images, while a server runs that
// compares them; ended when it has compared all. In its own process, as `moorage feeds import` is. Reads a FeedDelta as
// JSON from standard input, and prints a DeltaResult.
import { loadConfig } from "../packages/server/src/index.ts";
import { openCommandWriter } from "../packages/server/src/installation/stores.ts";
import { systemClock } from "../packages/kernel/src/lib/clock.ts";
import { fileSource, importFeed } from "../packages/security/src/security/index.ts";
import { type Database, openStore } from "../packages/kernel/src/store/index.ts";
import { answer } from "./processes.ts";

export interface FeedDelta {
  dataDir: string;
  env: Record<string, string>;
  feed: string;
  /** An archive of the records that changed. */
  archive: string;
}

export interface DeltaResult {
  /** From the beginning of the import to its end, and until everything was compared, in milliseconds. */
  importMs: number;
  ms: number;
  /** The change number before the import, which records and findings of it are above. */
  change: number;
  /** The time of its beginning, in milliseconds since 1970. */
  startedMs: number;
  changed: number;
  opened: number;
  closed: number;
}

const LOOK_MS = 20;
const LONGEST_MS = 300_000;

async function compared(reader: Database): Promise<{ change: number; isDone: boolean }> {
  const last = await reader.selectFrom("feed_changes").select("value").executeTakeFirstOrThrow();
  const state = await reader.selectFrom("matching").select("value").where("name", "=", "changes").executeTakeFirst();
  return { change: Number(last.value), isDone: Number(state?.value ?? 0) >= Number(last.value) };
}

await answer<FeedDelta>(async ({ dataDir, env, feed, archive }): Promise<DeltaResult> => {
  const config = loadConfig({ ...env, MOORAGE_DATA_DIR: dataDir });
  const store = await openStore(config);
  const transactor = await openCommandWriter(store, config, (error) => {
    throw error;
  });
  const { reader } = store;
  const { change, isDone } = await compared(reader);
  if (!isDone) throw new Error("the server has not compared the records that were there before");
  const startedMs = Date.now();
  const began = performance.now();
  const { changed, problems } = await importFeed(
    { transactor, reader, clock: systemClock },
    feed,
    await fileSource("osv", archive, true),
  );
  const importMs = performance.now() - began;
  if (problems > 0) throw new Error(`${problems} records could not be read`);
  while (!(await compared(reader)).isDone) {
    if (performance.now() - began > LONGEST_MS) throw new Error("the server does not compare the records");
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  const ms = performance.now() - began;
  const count = async (column: "change" | "closed", after: number): Promise<number> => {
    const { n } = await reader
      .selectFrom("package_findings")
      .select(({ fn }) => fn.countAll<number | string>().as("n"))
      .where("feed", "=", feed)
      .where(column, ">=", after)
      .executeTakeFirstOrThrow();
    return Number(n);
  };
  const [opened, closed] = [await count("change", change + 1), await count("closed", startedMs)];
  await transactor.close();
  await store.close();
  return { importMs, ms, change, startedMs, changed, opened, closed };
});
