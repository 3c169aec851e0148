import { randomUUID } from "node:crypto";
import type { Config } from "@moorage/kernel/config";
import { systemCall } from "@moorage/kernel/core/system-call";
import { MoorageError } from "@moorage/kernel/errors";
import { systemClock } from "@moorage/kernel/lib/clock";
import { type Row, StoreError } from "@moorage/kernel/store";
import {
  checkedDefinition,
  type Covered,
  coveredIn,
  type FeedDefinition,
  type FeedDeps,
  FeedDefinitionError,
  feedDueMs,
  type FeedFormat,
  type FeedPreset,
  fileSource,
  type Imported,
  importFeed,
  isFeedOverdue,
  loadFeedBundles,
  loadFeedUpdates,
  type ImportOptions,
  presetAddress,
  presetsNamed,
  putFeeds,
  removeFeed,
  SourceError,
} from "@moorage/security/security";
import { definitionOf, keepFeeds, readFeedsFile } from "../installation/feeds-file.ts";
import { type FileImport, importExport, importFile } from "./feed-files.ts";
import { withWriter } from "./open-writer.ts";

/** A preset that is to be added. */
export interface PlannedFeed {
  preset: FeedPreset;
  definition: FeedDefinition;
  /** A feed with its name is there: it is left as it is. */
  isThere: boolean;
}

/** A feed, with when it is fetched next (see feedDueMs), and whether it is older than it should be. */
interface ListedFeed extends Row<"feeds"> {
  /** Undefined as long as it is not known. */
  covered: Covered[] | undefined;
  dueMs: number | undefined;
  isOverdue: boolean;
}

/** The feeds of an installation, for its operator. All of them throw a StoreError in one line. */
export interface FeedsAdmin {
  list(): Promise<ListedFeed[]>;
  /** The problems of the last import of the feed, or of each: of each kind the first thousand. */
  problems(name?: string): Promise<Row<"feed_problems">[]>;
  /** The statements of the last import of the feed, or of each, that were about nothing here: the first thousand. */
  unmatched(name?: string): Promise<Row<"feed_unmatched">[]>;
  /** `given`: as an entry of MOORAGE_FEEDS_FILE. */
  add(given: object): Promise<void>;
  /**
   * The presets that words mean (see presetsNamed), as they would be added: with another interval, such as `1d`, and of
   * a single one with another address. Nothing is added or fetched.
   */
  plan(words: readonly string[], other?: { address?: string; interval?: string }): Promise<PlannedFeed[]>;
  /** Adds those of the presets that are not there; the caller fetches them now. Returns their names. */
  addPlanned(planned: readonly PlannedFeed[]): Promise<string[]>;
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
  const list = async (): Promise<ListedFeed[]> => {
    const nowMs = clock.nowMs();
    const rows = await reader.selectFrom("feeds").selectAll().orderBy("name").execute();
    return rows.map((row) => ({
      ...row,
      covered: coveredIn(row.coverage),
      dueMs: feedDueMs(row),
      isOverdue: isFeedOverdue(row, nowMs),
    }));
  };
  const one = async (name: string): Promise<Row<"feeds">> => {
    const found = (await list()).find((row) => row.name === name);
    if (found === undefined) throw new StoreError(`there is no feed ${name}`);
    return found;
  };
  const data = (): ReturnType<typeof systemCall> => systemCall(clock.nowMs(), randomUUID());
  return {
    list,
    async problems(name) {
      if (name !== undefined) await one(name);
      const all = reader.selectFrom("feed_problems").selectAll().orderBy("feed").orderBy("n");
      return await (name === undefined ? all : all.where("feed", "=", name)).execute();
    },
    async unmatched(name) {
      if (name !== undefined) await one(name);
      const all = reader.selectFrom("feed_unmatched").selectAll().orderBy("feed").orderBy("n");
      return await (name === undefined ? all : all.where("feed", "=", name)).execute();
    },
    async add(given) {
      const feed = definitionOf(given, config);
      await transactor.write(putFeeds, data(), { feeds: [feed], origin: "command", mustBeNew: true });
    },
    async plan(words, { address, interval } = {}) {
      const presets = presetsNamed(words);
      if (address !== undefined && presets.length !== 1)
        throw new StoreError(`an address is that of one feed, and these are ${presets.length}`);
      const names = new Set((await list()).map(({ name }) => name));
      return presets.map((preset) => {
        const { name, format, licence, intervalMs } = preset;
        const from = address ?? presetAddress(preset, config.feedsMirror);
        const definition =
          interval === undefined
            ? checkedDefinition({ name, format, licence, address: from, intervalMs, products: [] }, config)
            : definitionOf({ name, format, licence, address: from, interval }, config);
        return { preset, definition, isThere: names.has(name) };
      });
    },
    async addPlanned(planned) {
      const feeds = planned.filter(({ isThere }) => !isThere).map(({ definition }) => definition);
      if (feeds.length > 0)
        await transactor.write(putFeeds, data(), { feeds, origin: "command", mustBeNew: true, isFetched: true });
      return feeds.map(({ name }) => name);
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
