import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { removeExpired } from "@moorage/kernel/work";
import { EXPIRING_DOWNLOADS, type ExpiringDownloads, expireDownloads } from "./commands.ts";

/**
 * Removes statistics of downloads that are older than the retention, which is in milliseconds, in several transactions.
 * Returns how many rows of which kind. `signal` stops it between two transactions.
 */
export async function downloadRetention(
  { writer, clock, retentionMs }: { writer: CommandWriter; clock: Clock; retentionMs: number },
  signal: AbortSignal,
): Promise<Record<ExpiringDownloads, number>> {
  return await removeExpired(
    EXPIRING_DOWNLOADS,
    (what) => writer.write(expireDownloads, systemCallNow(clock), { what, beforeMs: clock.nowMs() - retentionMs }),
    signal,
  );
}
