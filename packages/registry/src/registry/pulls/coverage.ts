import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PullCoverageSchema } from "@moorage/api/messages";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { type Database, statement } from "@moorage/kernel/store";
import { dayOf, dayText } from "./days.ts";

/** What the statistics of pulls cover. */
export interface PullCoverage {
  /** Since when pulls are counted, in milliseconds since 1970; undefined when they are not. */
  sinceMs: number | undefined;
  /** Days since then of which pulls are missing, in days since 1970, the last ones first; at most 100. */
  lossyDays: readonly number[];
  /** How many such days there are. */
  lossyCount: number;
}

const MAX_LOSSY = 100;
const selectSince = statement<{ since: number }>("select since from pull_coverage");
const selectLossy = statement<{ day: number }>(
  `select day from pull_gaps where day >= ? order by day desc limit ${MAX_LOSSY}`,
);
const countLossy = statement<{ n: number }>("select count(*) as n from pull_gaps where day >= ?");

/** Reads what the statistics cover. Read it before the statistics: what it says then holds of them, too. */
export async function pullCoverage(db: Database): Promise<PullCoverage> {
  const [row] = await selectSince(db);
  if (row === undefined) return { sinceMs: undefined, lossyDays: [], lossyCount: 0 };
  const sinceMs = Number(row.since);
  const days = await selectLossy(db, dayOf(sinceMs));
  const count =
    days.length < MAX_LOSSY ? days.length : Number((await countLossy(db, dayOf(sinceMs)))[0]?.n ?? days.length);
  return { sinceMs, lossyDays: days.map(({ day }) => Number(day)), lossyCount: count };
}

/** Whether all pulls since the time are known. */
export function coversSince({ sinceMs, lossyDays }: PullCoverage, timeMs: number): boolean {
  if (sinceMs === undefined || sinceMs > timeMs) return false;
  return lossyDays[0] === undefined || lossyDays[0] < dayOf(timeMs);
}

/** As a message. */
export function coverageMessage(coverage: PullCoverage): MessageInitShape<typeof PullCoverageSchema> {
  const { sinceMs, lossyDays, lossyCount } = coverage;
  return {
    ...(sinceMs !== undefined && { since: timestamp(sinceMs) }),
    lossyDays: lossyDays.map(dayText),
    lossyDayCount: lossyCount,
  };
}
