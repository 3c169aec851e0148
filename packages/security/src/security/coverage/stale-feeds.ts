import { isoTime } from "@moorage/kernel/lib/timestamps";
import type { Database } from "@moorage/kernel/store";
import { mayHaveRecords } from "./spaces.ts";
import { coveredIn } from "../feeds/coverage.ts";
import { isOverdue } from "../feeds/due.ts";

/** A feed that is older than its own interval. Times are milliseconds since 1970. */
export interface StaleFeed {
  feed: string;
  /** When it was last read without an error; null when it never was. */
  successMs: number | null;
  intervalMs: number;
}

/** What an answer rests on: findings, in packages of these key spaces or in all, or the ends of life of products. */
export type AnswerAbout = { spaces: readonly string[] } | "all findings" | "ends of life";

/** Formats that say something of images whatever packages they hold. */
const OF_ALL_IMAGES: readonly string[] = ["kev", "epss", "openvex", "csaf-vex", "cyclonedx-vex"];

/**
 * The feeds that an answer rests on and that are older than their own interval, by their names: the one judgment that
 * stands beside every answer of feeds. Reads the feeds, of which there are a hundred at most; more only of a feed that
 * is old and of which it is not known what it covers.
 */
export async function staleFeeds(tx: Database, nowMs: number, about: AnswerAbout): Promise<StaleFeed[]> {
  const rows = await tx
    .selectFrom("feeds")
    .selectAll()
    .where("format", about === "ends of life" ? "=" : "<>", "endoflife")
    .where("delete_time", "is", null)
    .orderBy("name")
    .execute();
  const found: StaleFeed[] = [];
  for (const row of rows) {
    const { name: feed, format, success_time: successMs, interval_ms: intervalMs } = row;
    if (!isOverdue(row, nowMs)) continue;
    // A feed that never was read may be about anything.
    const concerns =
      typeof about === "string" ||
      successMs === null ||
      OF_ALL_IMAGES.includes(format) ||
      (await isAbout(tx, row, about.spaces));
    if (concerns) found.push({ feed, successMs, intervalMs });
  }
  return found;
}

/** Those that were older than their own interval at a time before now, by when they were last read. */
export function staleAt(stale: readonly StaleFeed[], atMs: number): StaleFeed[] {
  return stale.filter(({ successMs, intervalMs }) => successMs === null || successMs + intervalMs < atMs);
}

async function isAbout(
  tx: Database,
  { name, coverage }: { name: string; coverage: string | null },
  spaces: readonly string[],
): Promise<boolean> {
  const covered = coveredIn(coverage);
  if (covered !== undefined) return covered.some(({ space }) => spaces.includes(space));
  for (const space of spaces) if (await mayHaveRecords(tx, name, space)) return true;
  return false;
}

/** Such as `npm (last read 2026-11-20T03:04:05.000Z, every 6h)`. */
export function staleText({ feed, successMs, intervalMs }: StaleFeed): string {
  const when = successMs === null ? "never read" : `last read ${isoTime(successMs)}`;
  return `${feed} (${when}, every ${intervalText(intervalMs)})`;
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

function intervalText(ms: number): string {
  const [name, unit] = UNITS.find(([, each]) => ms % each === 0) ?? ["s", 1_000];
  return `${ms / unit}${name}`;
}
