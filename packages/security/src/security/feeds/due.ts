import type { Logger } from "pino";
import { MoorageError } from "@moorage/kernel/errors";
import type { Database, Row } from "@moorage/kernel/store";
import { DEFAULT_FEED_INTERVAL_MS } from "./definition.ts";
import type { DownloadRules } from "./download.ts";
import { type FeedDeps, removeFeed } from "./import.ts";
import { SourceError } from "../records/record.ts";

// A feed that failed is due again sooner.
const RETRY_MS = 15 * 60_000;
// How long a download may take, and a server may have been restarted meanwhile.
const GRACE_MS = 3_600_000;
// How often somebody imports a feed without an address, where nothing else is said.
const IMPORTED_EVERY_MS = 7 * 86_400_000;

type Schedule = Pick<
  Row<"feeds">,
  "address" | "interval_ms" | "attempt_time" | "success_time" | "request_time" | "delete_time" | "create_time" | "error"
>;

/**
 * When the feed is fetched next, in milliseconds since 1970; in the past: now. Undefined without an address, and while
 * it is being removed.
 */
export function dueMs(feed: Schedule): number | undefined {
  const { address, interval_ms: everyMs, attempt_time: attemptMs, request_time: requestMs, error } = feed;
  if (address === "" || feed.delete_time !== null) return undefined;
  if (attemptMs === null) return 0;
  if (requestMs !== null && requestMs > attemptMs) return requestMs;
  return attemptMs + (error === "" ? everyMs : Math.min(everyMs, RETRY_MS));
}

/**
 * Whether what the feed says is older than it should be: it was last brought up to date longer ago than its interval
 * and an hour; without an address than its interval, or than a week where none was set. A feed that never was is as old
 * as itself. The one judgment of it: see staleFeeds.
 */
export function isOverdue(feed: Schedule, nowMs: number): boolean {
  const isUnsaid = feed.interval_ms === DEFAULT_FEED_INTERVAL_MS || feed.interval_ms <= 0;
  const importedMs = isUnsaid ? IMPORTED_EVERY_MS : feed.interval_ms;
  const everyMs = feed.address === "" ? importedMs : feed.interval_ms + GRACE_MS;
  return nowMs - (feed.success_time ?? feed.create_time) > everyMs;
}

/** The feeds that have an address and are due, the one that has waited longest first. */
export async function dueFeeds(reader: Database, nowMs: number): Promise<Row<"feeds">[]> {
  const rows = await reader.selectFrom("feeds").selectAll().where("address", "<>", "").execute();
  return rows
    .flatMap((row) => ({ row, atMs: dueMs(row) ?? Infinity }))
    .filter(({ atMs }) => atMs <= nowMs)
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ row }) => row);
}

/** The names of the feeds that are being removed. */
export async function removedFeeds(reader: Database): Promise<string[]> {
  const rows = await reader.selectFrom("feeds").select("name").where("delete_time", "is not", null).execute();
  return rows.map(({ name }) => name);
}

/** Removes the feeds that are being removed, with their records. Returns how many are gone. */
export async function removeFeeds(deps: FeedDeps & { log: Logger }, signal: AbortSignal): Promise<number> {
  let gone = 0;
  for (const feed of await removedFeeds(deps.reader)) {
    signal.throwIfAborted();
    try {
      await removeFeed(deps, feed, signal);
      gone += 1;
    } catch (error) {
      // A file has it again, or somebody on the machine removes it as well.
      if (!(error instanceof MoorageError)) throw error;
      deps.log.warn({ feed, reason: error.message }, "removing a feed stopped");
    }
  }
  return gone;
}

/** The state of each feed, for metrics. Times are milliseconds since 1970. */
export async function feedStates(
  reader: Database,
): Promise<
  { feed: string; sinceMs: number; durationMs: number | null; records: number; problems: number; isFailing: boolean }[]
> {
  const rows = await reader.selectFrom("feeds").selectAll().execute();
  return rows.map(
    ({ name: feed, success_time: successMs, create_time: createMs, duration_ms: durationMs, ...row }) => ({
      feed,
      // A feed that never succeeded is as old as itself.
      sinceMs: successMs ?? createMs,
      durationMs,
      records: row.records,
      problems: row.problems,
      isFailing: row.error !== "",
    }),
  );
}

/** Updates the feeds that are due. What fails is noted at its feed, and logged. Returns how many were updated. */
export async function updateDueFeeds(
  deps: FeedDeps & { log: Logger },
  rules: DownloadRules,
  signal: AbortSignal,
): Promise<{ updated: number; failed: number }> {
  const counts = { updated: 0, failed: 0 };
  const due = await dueFeeds(deps.reader, deps.clock.nowMs());
  if (due.length === 0) return counts;
  const { updateFeed } = await import("./update.ts");
  for (const feed of due) {
    signal.throwIfAborted();
    try {
      await updateFeed(deps, feed, { ...rules, signal });
      counts.updated += 1;
    } catch (error) {
      if (!(error instanceof SourceError || error instanceof MoorageError)) throw error;
      counts.failed += 1;
      deps.log.warn({ feed: feed.name, reason: error.message }, "updating a feed failed");
    }
  }
  return counts;
}
