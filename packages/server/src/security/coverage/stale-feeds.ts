import type { Database } from "../../store/index.ts";
import { mayHaveRecords } from "./spaces.ts";

/** A feed that is older than its own interval. Times are milliseconds since 1970. */
export interface StaleFeed {
  feed: string;
  /** When it was last read without an error; null when it never was. */
  successMs: number | null;
  intervalMs: number;
}

/** Formats that say something of images whatever packages they hold. */
const OF_ALL_IMAGES: readonly string[] = ["kev", "epss", "openvex", "csaf-vex", "cyclonedx-vex"];

/**
 * The feeds that findings rest on and that are older than their own interval, by their names. `spaces`: the key spaces
 * of the packages that are answered for; without, all of them.
 */
export async function staleFeeds(tx: Database, nowMs: number, spaces?: readonly string[]): Promise<StaleFeed[]> {
  const rows = await tx
    .selectFrom("feeds")
    .select(["name", "format", "interval_ms", "success_time", "create_time"])
    .where("format", "<>", "endoflife")
    .orderBy("name")
    .execute();
  const found: StaleFeed[] = [];
  for (const { name: feed, format, success_time: successMs, ...row } of rows) {
    const [intervalMs, sinceMs] = [Number(row.interval_ms), Number(successMs ?? row.create_time)];
    if (intervalMs <= 0 || nowMs - sinceMs <= intervalMs) continue;
    // A feed that never was read may be about anything.
    const concerns = spaces === undefined || successMs === null || OF_ALL_IMAGES.includes(format);
    if (concerns || (await hasOneOf(tx, feed, spaces)))
      found.push({ feed, successMs: successMs === null ? null : Number(successMs), intervalMs });
  }
  return found;
}

async function hasOneOf(tx: Database, feed: string, spaces: readonly string[]): Promise<boolean> {
  for (const space of spaces) if (await mayHaveRecords(tx, feed, space)) return true;
  return false;
}
