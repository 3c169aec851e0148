import { randomUUID } from "node:crypto";
import type { Call } from "../../core/call.ts";
import { command } from "../../core/command.ts";
import { Code, MoorageError } from "../../errors.ts";
import { type Database, takeAdvisoryLock } from "../../store/index.ts";
import { FEEDING } from "./command-options.ts";
import { type FeedDefinition, MAX_FEEDS } from "./definition.ts";
import type { KeptProblem } from "./record.ts";
import type { UnmatchedStatement } from "./statement-count.ts";
import type { StoredRecord } from "./stored.ts";
import { deleteKeys, insertKeys, markRemoved, putRecords, ROWS_PER_STATEMENT, takeNumbers } from "./rows.ts";

// The commands by which feeds are written. The server or its operator acts, so no capabilities are checked.

/** An import that writes to a feed. A command with it throws ABORTED when a later import has begun. */
export interface FeedRun {
  feed: string;
  run: string;
}

/**
 * Adds feeds, and with `mustBeNew` false changes those that are there. `origin`: whose they are. Those of the file come
 * all together: what it has no longer becomes a feed of the command, without an address. Throws ALREADY_EXISTS, and
 * FAILED_PRECONDITION for another format than the feed has, and for too many feeds. `isFetched`: the caller fetches
 * them now, so servers leave them alone until that is due again as after a failure.
 */
export const putFeeds = command(
  "security.putFeeds",
  async (
    call: Call,
    {
      feeds,
      origin,
      mustBeNew,
      isFetched = false,
    }: { feeds: FeedDefinition[]; origin: "file" | "command"; mustBeNew: boolean; isFetched?: boolean },
  ): Promise<void> => {
    await takeAdvisoryLock(call.tx, "feeds");
    const known = new Map(
      (await call.tx.selectFrom("feeds").select(["name", "origin", "format", "products"]).execute()).map((row) => [
        row.name,
        row,
      ]),
    );
    for (const { name, format } of feeds) {
      const row = known.get(name);
      if (row === undefined) continue;
      if (mustBeNew) throw new MoorageError(Code.AlreadyExists, `there is a feed ${name} already`);
      if (row.format !== format)
        throw new MoorageError(
          Code.FailedPrecondition,
          `the feed ${name} has the format ${row.format}: remove it first, with all its records`,
        );
    }
    const names = new Set([...known.keys(), ...feeds.map(({ name }) => name)]);
    if (names.size > MAX_FEEDS) throw new MoorageError(Code.FailedPrecondition, `there are ${MAX_FEEDS} feeds already`);
    for (const feed of feeds) await putFeed(call, feed, { origin, isFetched }, known.get(feed.name)?.products);
    if (origin === "file") {
      const listed = new Set(feeds.map(({ name }) => name));
      const left = [...known.values()].filter((row) => row.origin === "file" && !listed.has(row.name));
      for (const { name } of left)
        await call.tx.updateTable("feeds").set({ origin: "command", address: "" }).where("name", "=", name).execute();
    }
  },
  FEEDING,
);

/** `before`: the products of the feed, if it is there. */
async function putFeed(
  call: Call,
  feed: FeedDefinition,
  { origin, isFetched }: { origin: string; isFetched: boolean },
  before: string | undefined,
): Promise<void> {
  const products = JSON.stringify(feed.products);
  const defined = {
    format: feed.format,
    address: feed.address,
    licence: feed.licence,
    interval_ms: feed.intervalMs,
    products,
    origin,
    // What it said about other products counts from now on, or counts no more.
    ...(before !== undefined && before !== products && { restate: randomUUID() }),
  };
  call.wake("feeds");
  call.wake("matching");
  await call.tx
    .insertInto("feeds")
    .values({
      name: feed.name,
      run: "",
      etag: "",
      last_modified: "",
      records: 0,
      withdrawn: 0,
      problems: 0,
      error: isFetched ? "its first fetch has not ended" : "",
      ...(isFetched && { attempt_time: call.nowMs }),
      create_time: call.nowMs,
      restate: "",
      ...defined,
    })
    .onConflict((conflict) => conflict.column("name").doUpdateSet(defined))
    .execute();
}

/** Removes a feed that has no records any more. Throws NOT_FOUND, and ABORTED when a later import has begun. */
export const deleteFeed = command(
  "security.deleteFeed",
  async (call: Call, place: FeedRun): Promise<void> => {
    await holdFeed(call, place);
    await call.tx.deleteFrom("feed_problems").where("feed", "=", place.feed).execute();
    await call.tx.deleteFrom("feeds").where("name", "=", place.feed).execute();
  },
  FEEDING,
);

/** Begins an import; one that is under way may write no more. Throws NOT_FOUND. */
export const beginImport = command(
  "security.beginImport",
  async (call: Call, { feed, run }: FeedRun): Promise<void> => {
    const { numUpdatedRows } = await call.tx
      .updateTable("feeds")
      .set({ run, attempt_time: call.nowMs })
      .where("name", "=", feed)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new MoorageError(Code.NotFound, `there is no feed ${feed}`);
  },
  FEEDING,
);

/** Writes those of the records that are new or differ from what is stored. Returns how many. */
export const putFeedRecords = command(
  "security.putFeedRecords",
  async (call: Call, { place, records }: { place: FeedRun; records: StoredRecord[] }): Promise<{ changed: number }> => {
    await holdFeed(call, place);
    const { feed } = place;
    const ids = records.map(({ id }) => id);
    const rows = await call.tx
      .selectFrom("feed_records")
      .select(["id", "hash"])
      .where("feed", "=", feed)
      .where("id", "in", ids)
      .execute();
    const stored = new Map(rows.map(({ id, hash }) => [id, hash]));
    const changed = records.filter(({ id, hash }) => stored.get(id) !== hash);
    if (changed.length === 0) return { changed: 0 };
    const first = await takeNumbers(call.tx, changed.length);
    await deleteKeys(
      call.tx,
      feed,
      changed.map(({ id }) => id).filter((id) => stored.has(id)),
    );
    await putRecords(
      call.tx,
      changed.map(({ keys: _keys, scoreTenths, ...record }, at) => ({
        ...record,
        feed,
        removed: 0,
        score_tenths: scoreTenths,
        change: first + at,
      })),
    );
    await insertKeys(
      call.tx,
      changed.flatMap(({ id, keys }) => keys.map(([kind, key]) => ({ kind, key, feed, record: id }))),
    );
    call.wake("matching");
    return { changed: changed.length };
  },
  FEEDING,
);

/** Notes that the feed no longer has these records: their rows stay, without content, with new change numbers. */
export const removeFeedRecords = command(
  "security.removeFeedRecords",
  async (call: Call, { place, ids }: { place: FeedRun; ids: string[] }): Promise<void> => {
    await holdFeed(call, place);
    await markRemoved(call.tx, place.feed, ids);
    call.wake("matching");
  },
  FEEDING,
);

/** How an import ended. Fields that are undefined stay as they are. */
export interface ImportEnd {
  place: FeedRun;
  /** Why it failed; empty when it did not, and the rest is set. */
  error: string;
  durationMs?: number;
  records?: number;
  withdrawn?: number;
  /** All that could not be read, and all that matches nothing; `kept` are the first of each. */
  problems?: number;
  unmatched?: number | undefined;
  kept?: KeptProblem[];
  /** Of VEX documents: their statements, how many of these are about nothing here, and the first of those. */
  statements?: number;
  statementsUnmatched?: number;
  unmatchedKept?: UnmatchedStatement[];
  /** See Covered, as JSON. Undefined as long as it is not known. */
  coverage?: string | undefined;
  newest?: number | undefined;
  isFull?: boolean;
  etag?: string | undefined;
  lastModified?: string | undefined;
}

/**
 * Notes that an attempt to fetch a feed has ended without an import: it failed, or with an empty `error`, nothing had
 * changed in the part that was asked for, or with `isFull`, in all of it. An import that is under way goes on.
 */
export const noteAttempt = command(
  "security.noteAttempt",
  async (call: Call, { feed, error, isFull }: { feed: string; error: string; isFull: boolean }): Promise<void> => {
    await call.tx
      .updateTable("feeds")
      .set(outcomeOf(call, error, isFull))
      .where("name", "=", feed)
      .execute();
  },
  FEEDING,
);

const outcomeOf = ({ nowMs }: Call, error: string, isFull: boolean) => ({
  error,
  attempt_time: nowMs,
  ...(error === "" && { success_time: nowMs }),
  ...(isFull && { full_time: nowMs }),
});

/** Notes how an import ended. Throws ABORTED when a later one has begun. */
export const endImport = command(
  "security.endImport",
  async (
    call: Call,
    {
      place,
      error,
      durationMs,
      kept,
      statementsUnmatched,
      unmatchedKept,
      newest,
      isFull,
      etag,
      lastModified,
      coverage,
      unmatched,
      ...counts
    }: ImportEnd,
  ): Promise<void> => {
    await holdFeed(call, place);
    const { feed } = place;
    await call.tx
      .updateTable("feeds")
      .set({
        run: "",
        ...outcomeOf(call, error, isFull === true),
        ...counts,
        ...(durationMs !== undefined && { duration_ms: durationMs }),
        ...(newest !== undefined && { newest }),
        ...(etag !== undefined && { etag }),
        ...(lastModified !== undefined && { last_modified: lastModified }),
        ...(coverage !== undefined && { coverage }),
        ...(unmatched !== undefined && { unmatched }),
        ...(statementsUnmatched !== undefined && { statements_unmatched: statementsUnmatched }),
      })
      .where("name", "=", feed)
      .execute();
    // What its changes did to images is emitted now.
    call.wake("matching");
    if (unmatchedKept !== undefined) await keepUnmatched(call.tx, feed, unmatchedKept);
    if (kept === undefined) return;
    await call.tx.deleteFrom("feed_problems").where("feed", "=", feed).execute();
    const rows = kept.map(({ id, position, message, kind }, n) => ({
      feed,
      n,
      record: id,
      position,
      message,
      kind,
    }));
    for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT)
      await call.tx
        .insertInto("feed_problems")
        .values(rows.slice(at, at + ROWS_PER_STATEMENT))
        .execute();
  },
  FEEDING,
);

async function keepUnmatched(tx: Database, feed: string, kept: readonly UnmatchedStatement[]): Promise<void> {
  await tx.deleteFrom("feed_unmatched").where("feed", "=", feed).execute();
  const rows = kept.map(({ ids, ...rest }, n) => ({ feed, n, ids: JSON.stringify(ids), ...rest }));
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT)
    await tx
      .insertInto("feed_unmatched")
      .values(rows.slice(at, at + ROWS_PER_STATEMENT))
      .execute();
}

/** Locks the feed until the transaction ends. Throws NOT_FOUND, and ABORTED when a later import has begun. */
async function holdFeed({ tx }: Call, { feed, run }: FeedRun): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable("feeds")
    .set({ run })
    .where("name", "=", feed)
    .where("run", "=", run)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  const row = await tx.selectFrom("feeds").select("name").where("name", "=", feed).executeTakeFirst();
  if (row === undefined) throw new MoorageError(Code.NotFound, `there is no feed ${feed}`);
  throw new MoorageError(Code.Aborted, `another import of the feed ${feed} has begun, which goes on in place of this`);
}

/** The commands of feeds. */
export const feedCommands = [
  putFeeds,
  deleteFeed,
  beginImport,
  putFeedRecords,
  removeFeedRecords,
  noteAttempt,
  endImport,
] as const;
