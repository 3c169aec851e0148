// An import of records that changed into a feed whose records affect packages of many images, while a server runs that
// compares them; ended when it has compared all, and emitted the events of all images whose findings have changed. In
// its own process, as `moorage feeds import` is. Reads a FeedDelta as JSON from standard input, prints a DeltaResult.
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
  /** From the beginning of the import to its end, in milliseconds. */
  importMs: number;
  /** Until everything was compared. */
  ms: number;
  /** And until the events of all images were emitted and had their numbers. */
  emittedMs: number;
  /** Processor time of the import, without the server's, in microseconds. */
  importCpuUs: number;
  /** The change number before the import, which records and findings of it are above. */
  change: number;
  /** The time of its beginning, in milliseconds since 1970. */
  startedMs: number;
  changed: number;
  opened: number;
  closed: number;
}

const LOOK_MS = 20;
const LONGEST_MS = 900_000;

/** Whether the server has nothing left to do for findings and events. */
async function isQuiet(reader: Database): Promise<boolean> {
  for (const table of ["finding_causes", "finding_checks", "event_outbox"] as const)
    if (
      (await reader
        .selectFrom(table)
        .select(({ lit }) => lit(1).as("one"))
        .limit(1)
        .executeTakeFirst()) !== undefined
    )
      return false;
  return true;
}

/** Waits until the server is done with what the function looks for. */
async function until(isDone: () => Promise<boolean>, what: string): Promise<void> {
  const began = performance.now();
  while (!(await isDone())) {
    if (performance.now() - began > LONGEST_MS) throw new Error(`the server does not ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

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
  await until(async () => (await compared(reader)).isDone && (await isQuiet(reader)), "end what it did before");
  const { change } = await compared(reader);
  const startedMs = Date.now();
  const began = performance.now();
  const cpu = process.cpuUsage();
  const { changed, problems } = await importFeed(
    { transactor, reader, clock: systemClock },
    feed,
    await fileSource("osv", archive, true),
  );
  const importMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  if (problems > 0) throw new Error(`${problems} records could not be read`);
  await until(async () => (await compared(reader)).isDone, "compare the records");
  const ms = performance.now() - began;
  await until(() => isQuiet(reader), "emit the events");
  const emittedMs = performance.now() - began;
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
  return { importMs, ms, emittedMs, importCpuUs: user + system, change, startedMs, changed, opened, closed };
});
