import type { Logger } from "pino";
import { MoorageError } from "../../errors.ts";
import type { Database, Row } from "../../store/index.ts";
import type { DownloadRules } from "./download.ts";
import type { FeedDeps } from "./import.ts";
import { SourceError } from "./record.ts";

// A feed that failed is due again sooner.
const RETRY_MS = 15 * 60_000;

/** The feeds that have an address and are due, the one that has waited longest first. */
export async function dueFeeds(reader: Database, nowMs: number): Promise<Row<"feeds">[]> {
  const rows = await reader.selectFrom("feeds").selectAll().where("address", "<>", "").execute();
  const dueMs = ({ attempt_time: attemptMs, error, interval_ms: everyMs }: Row<"feeds">): number =>
    attemptMs === null ? 0 : attemptMs + (error === "" ? everyMs : Math.min(everyMs, RETRY_MS));
  return rows.filter((row) => dueMs(row) <= nowMs).toSorted((a, b) => dueMs(a) - dueMs(b));
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
