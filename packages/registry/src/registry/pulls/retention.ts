import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { removeExpired } from "@moorage/kernel/work";
import { EXPIRING_STATISTICS, type ExpiringStatistics, expireStatistics } from "./commands.ts";

interface StatisticsRetentionDeps {
  writer: CommandWriter;
  clock: Clock;
  /** How long statistics are kept, in milliseconds. */
  retentionMs: number;
}

/**
 * Removes statistics of pulls and of usage that are older than the retention, in several transactions. Returns how many
 * rows of which kind. `signal` stops it between two transactions.
 */
export async function statisticsRetention(
  { writer, clock, retentionMs }: StatisticsRetentionDeps,
  signal: AbortSignal,
): Promise<Record<ExpiringStatistics, number>> {
  return await removeExpired(
    EXPIRING_STATISTICS,
    (what) => writer.write(expireStatistics, systemCallNow(clock), { what, beforeMs: clock.nowMs() - retentionMs }),
    signal,
  );
}
