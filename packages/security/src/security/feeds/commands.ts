import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Database } from "@moorage/kernel/store";
import { FEEDING } from "./command-options.ts";
import { defineFeeds } from "./define.ts";
import type { KeptProblem } from "../records/record.ts";
import type { UnmatchedStatement } from "./statement-count.ts";
import type { StoredRecord } from "./stored-record.ts";
import { deleteKeys, insertKeys, markRemoved, putRecords, ROWS_PER_STATEMENT, takeNumbers } from "./rows.ts";

// The commands by which feeds are written. The server or its operator acts, so no capabilities are checked.

/** An import that writes to a feed. A command with it throws ABORTED when a later import has begun. */
export interface FeedRun {
  feed: string;
  run: string;
}

/** See defineFeeds. */
export const putFeeds = command("security.putFeeds", defineFeeds, FEEDING);

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

/**
 * Begins an import, or with `isRemoval` the removal of all records; one that is under way may write no more. Throws
 * NOT_FOUND, and FAILED_PRECONDITION for an import of a feed that is being removed.
 */
export const beginImport = command(
  "security.beginImport",
  async (call: Call, { feed, run, isRemoval = false }: FeedRun & { isRemoval?: boolean }): Promise<void> => {
    const row = await call.tx.selectFrom("feeds").select("delete_time").where("name", "=", feed).executeTakeFirst();
    if (row !== undefined && row.delete_time !== null && !isRemoval)
      throw new MoorageError(Code.FailedPrecondition, `the feed ${feed} is being removed`);
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

// What was asked for meanwhile is done by it: a request that is gone is how others see that an attempt has ended.
const outcomeOf = ({ nowMs }: Call, error: string, isFull: boolean) => ({
  error,
  attempt_time: nowMs,
  request_time: null,
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
