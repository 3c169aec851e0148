import { randomUUID } from "node:crypto";
import type { CallData } from "@moorage/kernel/core/call";
import { systemCall } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Database, Row } from "@moorage/kernel/store";
import {
  beginImport,
  deleteFeed,
  endImport,
  type FeedRun,
  type ImportEnd,
  putFeedRecords,
  removeFeedRecords,
} from "./commands.ts";
import { type Coverage, CoverageCount, type Covered, withPart } from "./coverage.ts";
import { StatementCount } from "./statement-count.ts";
import { type FeedProblem, type KeptProblem, type ProblemKind, SourceError } from "../records/record.ts";
import type { StoredRead, StoredRecord } from "./stored-record.ts";

export interface FeedDeps {
  transactor: CommandWriter;
  reader: Database;
  clock: { nowMs(): number; monotonicMs(): number };
}

/** What is imported into a feed. */
export interface ImportSource {
  /** Yields all records from the beginning; called twice for a snapshot. */
  read(): AsyncIterable<StoredRead>;
  /** It has all records of the feed: those that it lacks are removed. */
  isSnapshot: boolean;
  /** That it has nothing is no sign of a fault. */
  mayBeEmpty?: boolean;
  /** Of increments: the newest `modified` up to which the feed has everything then. */
  newest?: number | undefined;
  /** What the server said about it, for the next request. */
  etag?: string | undefined;
  lastModified?: string | undefined;
}

export interface ImportOptions {
  /** Takes a snapshot that lacks more than a tenth of the records. */
  allowShrink?: boolean;
  /** Ends the import between two batches, and it rejects then. */
  signal?: AbortSignal;
  /** Called after each batch with the number of records read so far. */
  progress?(records: number): void;
}

/** What an import did. */
export interface Imported {
  feed: string;
  /** Read from the source. */
  records: number;
  /** Of these, new or changed. */
  changed: number;
  /** No longer in the source. */
  removed: number;
  problems: number;
  /** Of VEX documents: how many statements they make, and how many of these are about nothing that is stored here. */
  statements: number;
  statementsUnmatched: number;
  /** Of the records of the source, those that match nothing, in part or as a whole. */
  unmatched: number;
}

const BATCH_RECORDS = 200;
const BATCH_BYTES = 1 << 20;
const PAGE = 5_000;
const MAX_RECORDS = 5_000_000;
/** The most problems of each kind that are stored of a feed; all are counted. */
const MAX_PROBLEMS = 1_000;

/**
 * Imports a source into a feed, a transaction for each batch. Killed at any point it leaves whole records, and the next
 * import of the same source ends in the same state; what did not change is not written. A failure is noted at the feed.
 * Throws a SourceError, or a MoorageError: NOT_FOUND, or ABORTED when another import of the feed has begun.
 */
export async function importFeed(
  deps: FeedDeps,
  feed: string,
  source: ImportSource,
  options: ImportOptions = {},
): Promise<Imported> {
  const { transactor, clock } = deps;
  const data = (): CallData => systemCall(clock.nowMs());
  const place: FeedRun = { feed, run: randomUUID() };
  await transactor.write(beginImport, data(), place);
  try {
    const startedMs = clock.monotonicMs();
    const { end, ...imported } = await run(deps, place, source, options);
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    await transactor.write(endImport, data(), { place, error: "", durationMs, ...end });
    return { feed, ...imported };
  } catch (error) {
    // Some of it may have been written.
    if (error instanceof SourceError)
      await transactor.write(endImport, data(), {
        place,
        error: error.message.slice(0, 500),
        ...(await countsOf(deps.reader, feed)),
      });
    throw error;
  }
}

async function run(
  deps: FeedDeps,
  place: FeedRun,
  source: ImportSource,
  options: ImportOptions,
): Promise<Omit<Imported, "feed"> & { end: Partial<ImportEnd> }> {
  const { reader, transactor, clock } = deps;
  const { allowShrink = false, signal, progress = () => {} } = options;
  const before = await countsOf(reader, place.feed);
  const guard = async ({ ids, records, kept }: Reads): Promise<void> => {
    if (allowShrink || !source.isSnapshot) return;
    const [first] = kept;
    if (records === 0 && source.mayBeEmpty !== true)
      throw new SourceError(`it has no records${first === undefined ? "" : `; ${first.position}: ${first.message}`}`);
    let lost = 0;
    for await (const page of goneFrom(reader, place.feed, ids)) lost += page.length;
    if (lost * 10 > before.records)
      throw new SourceError(`it lacks ${lost} of the ${before.records} records that the feed has, more than a tenth`);
  };
  // A first look, so that nothing is written of a source that is rejected.
  if (source.isSnapshot && before.records > 0 && !allowShrink) await guard(await look(source, signal));

  const row = await feedRow(reader, place.feed);
  const seen = new Reads();
  const coverage = new CoverageCount(row?.format ?? "", MAX_PROBLEMS);
  const said = new StatementCount(reader, row?.format ?? "");
  let changed = 0;
  let batch: StoredRecord[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    signal?.throwIfAborted();
    if (batch.length === 0) return;
    const records = batch;
    [batch, bytes] = [[], 0];
    await said.add(records);
    changed += (await transactor.write(putFeedRecords, systemCall(clock.nowMs()), { place, records })).changed;
    progress(seen.records);
  };
  for await (const read of source.read()) {
    const stored = seen.take(read);
    if (stored === undefined) continue;
    coverage.take(stored);
    batch.push(stored);
    bytes += stored.body.length + stored.keys.length * 100;
    if (batch.length >= BATCH_RECORDS || bytes >= BATCH_BYTES) await flush();
  }
  await flush();

  let removed = 0;
  if (source.isSnapshot) {
    await guard(seen);
    removed = await removeGone(deps, place, seen.ids, signal);
  }
  const found = coverage.end();
  const now: Problems = { kept: keptOf(seen.kept, found.kept), problems: seen.problems, unmatched: found.unmatched };
  const known = source.isSnapshot
    ? { ...now, covered: found.covered }
    : await withStored(reader, row, seen.ids, found, now);
  const after = await countsOf(reader, place.feed);
  const newest = source.isSnapshot && Number.isFinite(seen.newest) ? seen.newest : source.newest;
  const end = {
    records: after.records,
    withdrawn: after.withdrawn,
    problems: known.problems,
    unmatched: known.unmatched,
    kept: known.kept,
    statements: said.total,
    statementsUnmatched: said.unmatched,
    unmatchedKept: said.kept,
    ...(known.covered !== undefined && { coverage: JSON.stringify(known.covered) }),
    isFull: source.isSnapshot,
    newest,
    etag: source.etag,
    lastModified: source.lastModified,
  };
  const counts = { statements: said.total, statementsUnmatched: said.unmatched, unmatched: found.unmatched };
  return { records: seen.records, changed, removed, problems: seen.problems, ...counts, end };
}

/** Follows what is read. */
class Reads {
  /** The ids that the source has, those included that could not be read: their records stay as they are. */
  readonly ids = new Set<string>();
  readonly kept: FeedProblem[] = [];
  records = 0;
  problems = 0;
  newest = -Infinity;

  /** The record to write. Undefined for a problem. */
  take({ stored, problem }: StoredRead): StoredRecord | undefined {
    if (problem !== undefined) {
      this.#note(problem);
      return undefined;
    }
    if (this.records >= MAX_RECORDS) throw new SourceError(`it has more than ${MAX_RECORDS} records`);
    const { id, modified } = stored;
    if (this.ids.has(id)) {
      this.#note({ id, position: id, message: "id: another record has it as well, or could not be read" });
      return undefined;
    }
    this.records += 1;
    this.newest = Math.max(this.newest, modified);
    this.ids.add(id);
    return stored;
  }

  #note(problem: FeedProblem): void {
    this.problems += 1;
    if (this.kept.length < MAX_PROBLEMS) this.kept.push(problem);
    if (problem.id !== "" && this.ids.size < 2 * MAX_RECORDS) this.ids.add(problem.id);
  }
}

async function look(source: ImportSource, signal: AbortSignal | undefined): Promise<Reads> {
  const reads = new Reads();
  for await (const read of source.read()) {
    signal?.throwIfAborted();
    reads.take(read);
  }
  return reads;
}

/** What is stored of the problems of a feed. */
interface Problems {
  kept: KeptProblem[];
  problems: number;
  /** Undefined as long as it is not known. */
  unmatched: number | undefined;
}

function keptOf(unreadable: readonly FeedProblem[], unmatched: readonly FeedProblem[]): KeptProblem[] {
  const of = (kind: ProblemKind) => (each: FeedProblem) => ({ ...each, kind });
  return [...unreadable.map(of("UNREADABLE")), ...unmatched.map(of("UNMATCHED"))];
}

/**
 * What is known after an import of a part: what was known of records that it did not have, and what it found. Of more
 * problems than are stored it is not known which the part has mended: these are counted until the next import of all.
 */
async function withStored(
  reader: Database,
  row: Row<"feeds"> | undefined,
  ids: ReadonlySet<string>,
  { covered }: Pick<Coverage, "covered">,
  now: Problems,
): Promise<Problems & { covered: Covered[] | undefined }> {
  const isNew = row === undefined || (row.records === 0 && row.success_time === null);
  const stored = isNew ? [] : await problemRows(reader, row.name);
  const gone = (kind: ProblemKind): number =>
    stored.filter((each) => each.kind === kind && each.record !== "" && ids.has(each.record)).length;
  const stay = stored
    .filter(({ record }) => record === "" || !ids.has(record))
    .map(({ record, position, message, kind }) => ({ id: record, position, message, kind: kind as ProblemKind }));
  const first = (kind: ProblemKind): KeptProblem[] =>
    [...stay, ...now.kept].filter((each) => each.kind === kind).slice(0, MAX_PROBLEMS);
  const unmatched = isNew ? 0 : row.unmatched;
  return {
    kept: [...first("UNREADABLE"), ...first("UNMATCHED")],
    problems: (row?.problems ?? 0) - gone("UNREADABLE") + now.problems,
    unmatched: unmatched === null ? undefined : unmatched - gone("UNMATCHED") + (now.unmatched ?? 0),
    covered: withPart(isNew ? "[]" : row.coverage, covered),
  };
}

async function problemRows(reader: Database, feed: string): Promise<Row<"feed_problems">[]> {
  return await reader.selectFrom("feed_problems").selectAll().where("feed", "=", feed).orderBy("n").execute();
}

async function feedRow(reader: Database, feed: string): Promise<Row<"feeds"> | undefined> {
  return await reader.selectFrom("feeds").selectAll().where("name", "=", feed).executeTakeFirst();
}

async function removeGone(
  { reader, transactor, clock }: FeedDeps,
  place: FeedRun,
  ids: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for await (const page of goneFrom(reader, place.feed, ids))
    for (let at = 0; at < page.length; at += BATCH_RECORDS) {
      signal?.throwIfAborted();
      const gone = page.slice(at, at + BATCH_RECORDS);
      await transactor.write(removeFeedRecords, systemCall(clock.nowMs()), { place, ids: gone });
      removed += gone.length;
    }
  return removed;
}

/** The ids of the feed's records that are not among `ids`, in pages. */
async function* goneFrom(reader: Database, feed: string, ids: ReadonlySet<string>): AsyncGenerator<string[]> {
  for (let after = ""; ;) {
    const rows = await reader
      .selectFrom("feed_records")
      .select(["id", "removed"])
      .where("feed", "=", feed)
      .where("id", ">", after)
      .orderBy("id")
      .limit(PAGE)
      .execute();
    yield rows.filter(({ id, removed }) => removed === 0 && !ids.has(id)).map(({ id }) => id);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

async function countsOf(reader: Database, feed: string): Promise<{ records: number; withdrawn: number }> {
  const { records, withdrawn } = await reader
    .selectFrom("feed_records")
    .select(({ fn }) => [fn.countAll<number>().as("records"), fn.count<number>("withdrawn").as("withdrawn")])
    .where("feed", "=", feed)
    .where("removed", "=", 0)
    .executeTakeFirstOrThrow();
  return { records: Number(records), withdrawn: Number(withdrawn) };
}

/** Removes a feed with its records; killed on the way, it is done again. Throws NOT_FOUND, FAILED_PRECONDITION. */
export async function removeFeed(deps: FeedDeps, feed: string, signal?: AbortSignal): Promise<{ removed: number }> {
  const { transactor, reader, clock } = deps;
  const row = await reader.selectFrom("feeds").select("origin").where("name", "=", feed).executeTakeFirst();
  if (row?.origin === "file")
    throw new MoorageError(
      Code.FailedPrecondition,
      `the feed ${feed} is of MOORAGE_FEEDS_FILE: take it out there, then start the server`,
    );
  const place: FeedRun = { feed, run: randomUUID() };
  await transactor.write(beginImport, systemCall(clock.nowMs()), { ...place, isRemoval: true });
  const removed = await removeGone(deps, place, new Set(), signal);
  await transactor.write(deleteFeed, systemCall(clock.nowMs()), place);
  return { removed };
}
