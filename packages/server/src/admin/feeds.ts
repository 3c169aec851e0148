import { randomUUID } from "node:crypto";
import type { Config } from "../config/index.ts";
import { systemCall } from "../core/system-call.ts";
import { MoorageError } from "../errors.ts";
import { definitionOf, keepFeeds, readFeedsFile } from "../installation/feeds-file.ts";
import { systemClock } from "../lib/clock.ts";
import {
  type FeedDeps,
  FeedDefinitionError,
  type FeedFormat,
  fileSource,
  type Imported,
  importFeed,
  loadFeedBundles,
  loadFeedUpdates,
  type ImportOptions,
  putFeeds,
  removeFeed,
  SourceError,
} from "../security/index.ts";
import { type Row, StoreError } from "../store/index.ts";
import { type FileImport, importExport, importFile } from "./feed-files.ts";
import { withWriter } from "./open-writer.ts";

/** The feeds of an installation, for its operator. All of them throw a StoreError in one line. */
export interface FeedsAdmin {
  list(): Promise<Row<"feeds">[]>;
  /** The problems of the feed's last import, the first thousand. */
  problems(name: string): Promise<Row<"feed_problems">[]>;
  /** The statements of the feed's last import that were about nothing here, the first thousand. */
  unmatched(name: string): Promise<Row<"feed_unmatched">[]>;
  /** `given`: as an entry of MOORAGE_FEEDS_FILE. */
  add(given: object): Promise<void>;
  remove(name: string): Promise<{ removed: number }>;
  /** Fetches the feeds, or with no names all that have an address. `done` is called after each. */
  update(
    names: readonly string[],
    options: ImportOptions,
    done: (feed: string, outcome: Imported | "unchanged" | Error) => void,
  ): Promise<void>;
  /** Imports a file or a folder, into a feed that is added where it is not there. */
  importFile(file: string, given: FileImport): Promise<Imported[]>;
  /** Imports the data of a feed that is there from a file or a folder. `isPart`: see fileSource. */
  importData(name: string, file: string, options: ImportOptions & { isPart?: boolean | undefined }): Promise<Imported>;
  /** Imports what `exportAll` wrote. */
  importAll(file: string, options: ImportOptions): Promise<Imported[]>;
  exportAll(file: string): Promise<{ feeds: number; records: number }>;
}

/** Works on the feeds of an installation; servers may run, on either engine. Throws a StoreError in one line. */
export async function withFeeds<T>(config: Config, work: (feeds: FeedsAdmin) => Promise<T>): Promise<T> {
  try {
    return await withWriter(config, ({ reader, writer }) =>
      work(feedsOf({ transactor: writer, reader, clock: systemClock }, config)),
    );
  } catch (error) {
    const isOperators =
      error instanceof SourceError || error instanceof FeedDefinitionError || error instanceof MoorageError;
    throw isOperators ? new StoreError(error.message, { cause: error }) : error;
  }
}

function feedsOf(deps: FeedDeps, config: Config): FeedsAdmin {
  const { reader, transactor, clock } = deps;
  const list = (): Promise<Row<"feeds">[]> => reader.selectFrom("feeds").selectAll().orderBy("name").execute();
  const one = async (name: string): Promise<Row<"feeds">> => {
    const found = (await list()).find((row) => row.name === name);
    if (found === undefined) throw new StoreError(`there is no feed ${name}`);
    return found;
  };
  const data = (): ReturnType<typeof systemCall> => systemCall(clock.nowMs(), randomUUID());
  return {
    list,
    async problems(name) {
      await one(name);
      return reader.selectFrom("feed_problems").selectAll().where("feed", "=", name).orderBy("n").execute();
    },
    async unmatched(name) {
      await one(name);
      return reader.selectFrom("feed_unmatched").selectAll().where("feed", "=", name).orderBy("n").execute();
    },
    async add(given) {
      const feed = definitionOf(given, config);
      await transactor.write(putFeeds, data(), { feeds: [feed], origin: "command", mustBeNew: true });
    },
    remove: (name) => removeFeed(deps, name),
    async update(names, options, done) {
      await keepFeeds(transactor, await readFeedsFile(config), clock.nowMs());
      const feeds =
        names.length > 0 ? await Promise.all(names.map(one)) : (await list()).filter(({ address }) => address !== "");
      const { updateFeed } = await loadFeedUpdates();
      const signal = options.signal ?? new AbortController().signal;
      for (const feed of feeds) {
        if (feed.address === "") throw new StoreError(`the feed ${feed.name} has no address: import it from a file`);
        try {
          done(feed.name, (await updateFeed(deps, feed, { ...options, ...config, signal })) ?? "unchanged");
        } catch (error) {
          if (!(error instanceof SourceError || error instanceof MoorageError)) throw error;
          done(feed.name, error);
        }
      }
    },
    importFile: (file, given) => importFile(deps, config, file, given),
    async importData(name, file, { isPart, ...options }) {
      const { format } = await one(name);
      return importFeed(deps, name, await fileSource(format as FeedFormat, file, isPart), options);
    },
    importAll: (file, options) => importExport(deps, config, file, options),
    exportAll: async (file) => (await loadFeedBundles()).exportBundle(reader, file),
  };
}
