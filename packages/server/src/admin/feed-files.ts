import type { Config } from "@moorage/kernel/config";
import { systemCall } from "@moorage/kernel/core/system-call";
import { type Row, StoreError } from "@moorage/kernel/store";
import {
  checkedDefinition,
  type FeedDefinition,
  type FeedDeps,
  type FeedFormat,
  fileSource,
  type Imported,
  importFeed,
  type ImportOptions,
  loadFeedBundles,
  loadFeedRecognition,
  putFeeds,
  removeFeed,
  SourceError,
} from "@moorage/security/security";
import { definitionOf } from "../installation/feeds-file.ts";

/** How a file is imported. */
export interface FileImport extends ImportOptions {
  /** The feed whose data it has. Undefined: an export of feeds, or the feed with the name of the file. */
  feed?: string | undefined;
  /** The license of the data: of a new feed, or in place of the one that the feed has. */
  licence?: string | undefined;
  /** What it covers: of a new feed, or in place of what the feed covers; see FeedDefinition. */
  covers?: string[] | undefined;
  /** See fileSource. */
  isPart?: boolean | undefined;
  /** Called with a feed that was not there and is added, before its import. */
  added?(feed: FeedDefinition): void;
}

/** What a feed has as its license until one is named. */
const NO_LICENCE = "not stated";

/**
 * Imports a file or a folder: what `moorage feeds export` wrote, or the data of one feed. Unless the feed is there, it
 * is added, with the format that the content shows. Throws a StoreError, a SourceError, a FeedDefinitionError or a
 * MoorageError.
 */
export async function importFile(deps: FeedDeps, config: Config, file: string, given: FileImport): Promise<Imported[]> {
  const { feed, licence, covers, isPart, added, ...options } = given;
  const { reader, transactor, clock } = deps;
  const rows = await reader.selectFrom("feeds").selectAll().execute();
  const { recognized, feedNameOf } = await loadFeedRecognition();
  let row = rows.find(({ name }) => name === feed);
  let format = row?.format;
  if (format === undefined) {
    const found = await recognized(file);
    if (found.format === "export") {
      if (feed === undefined && licence === undefined && covers === undefined && isPart !== true)
        return await importExport(deps, config, file, options);
      throw new StoreError(
        `${file} is an export of feeds: --feed, --licence, --covers and --part are for the data of one feed`,
      );
    }
    if (feed === undefined && !found.isSnapshot)
      throw new StoreError(`${file} is one record or document: name the feed that it belongs to with --feed`);
    format = found.format;
  }
  const name = feed ?? feedNameOf(file);
  row ??= rows.find((each) => each.name === name);
  if (row !== undefined && row.format !== format)
    throw new StoreError(
      `the feed ${name} has the format ${row.format}, and ${file} has ${format}: name it with --feed`,
    );
  const isSaid = licence !== undefined || covers !== undefined;
  if (row?.origin === "file" && isSaid)
    throw new StoreError(`the feed ${name} is of MOORAGE_FEEDS_FILE: its licence and what it covers are set there`);
  if (row === undefined || isSaid) {
    const definition = definitionWith(row, { name, format, licence, covers }, config);
    const change = { feeds: [definition], origin: "command" as const, mustBeNew: row === undefined };
    await transactor.write(putFeeds, systemCall(clock.nowMs()), change);
    if (row === undefined) added?.(definition);
  }
  try {
    return [await importFeed(deps, name, await fileSource(format as FeedFormat, file, isPart), options)];
  } catch (error) {
    // A feed of which nothing could be read is not left behind.
    if (row === undefined && error instanceof SourceError) await removeFeed(deps, name);
    throw error;
  }
}

function definitionWith(
  row: Row<"feeds"> | undefined,
  { licence, covers, ...said }: { name: string; format: string } & Pick<FileImport, "licence" | "covers">,
  config: Config,
): FeedDefinition {
  if (row === undefined) return definitionOf({ ...said, licence: licence ?? NO_LICENCE, covers }, config);
  const { address, interval_ms: intervalMs } = row;
  const [products, covered] = [row.products, row.covers].map((list) => JSON.parse(list) as string[]);
  const before = { address, intervalMs, products: products ?? [] };
  return checkedDefinition(
    { ...said, ...before, licence: licence ?? row.licence, covers: covers ?? covered ?? [] },
    config,
  );
}

/**
 * Imports what `moorage feeds export` wrote. Feeds that are not there are added, without an address. Throws as
 * importFile does.
 */
export async function importExport(
  deps: FeedDeps,
  config: Config,
  file: string,
  options: ImportOptions,
): Promise<Imported[]> {
  const bundled = await (await loadFeedBundles()).bundledFeeds(file);
  const formats = new Map(
    (await deps.reader.selectFrom("feeds").select(["name", "format"]).execute()).map((row) => [row.name, row.format]),
  );
  for (const { name, format } of bundled.map(({ definition }) => definition))
    if ((formats.get(name) ?? format) !== format)
      throw new StoreError(`the feed ${name} is of another format here: remove it first, with all its records`);
  const feeds = bundled
    .map(({ definition }) => definition)
    .filter(({ name }) => !formats.has(name))
    .map((feed) => checkedDefinition(feed, config));
  await deps.transactor.write(putFeeds, systemCall(deps.clock.nowMs()), { feeds, origin: "command", mustBeNew: true });
  const done: Imported[] = [];
  for (const { definition, read } of bundled)
    done.push(await importFeed(deps, definition.name, { read, isSnapshot: true, mayBeEmpty: true }, options));
  return done;
}
