import { type Coverage, type CoverageKeeper, coverageIn } from "@moorage/kernel/work";
import { dayOf } from "@moorage/kernel/lib/days";
import type { Database } from "@moorage/kernel/store";

/** Keeps what the statistics of pulls cover. */
export const coverageOfPulls: CoverageKeeper = coverageIn({
  coverage: "pull_coverage",
  counters: "pull_counters",
  gaps: "pull_gaps",
  lost: "pulls",
});

/** Reads what the statistics cover. Read it before the statistics: what it says then holds of them, too. */
export function pullCoverage(db: Database): Promise<Coverage> {
  return coverageOfPulls.read(db);
}

/** Whether all pulls since the time are known. */
export function coversSince({ sinceMs, lossyDays }: Coverage, timeMs: number): boolean {
  if (sinceMs === undefined || sinceMs > timeMs) return false;
  return lossyDays[0] === undefined || lossyDays[0] < dayOf(timeMs);
}
