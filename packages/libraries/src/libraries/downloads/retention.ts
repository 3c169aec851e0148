import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { EXPIRING_DOWNLOADS, type ExpiringDownloads, expireDownloads } from "./commands.ts";

/**
 * Removes statistics of downloads that are older than the retention, which is in milliseconds, in several transactions.
 * Returns how many rows of which kind. `signal` stops it between two transactions.
 */
export async function downloadRetention(
  { writer, clock, retentionMs }: { writer: CommandWriter; clock: Clock; retentionMs: number },
  signal: AbortSignal,
): Promise<Record<ExpiringDownloads, number>> {
  const removed = { downloads: 0, last: 0, gaps: 0 };
  for (const what of EXPIRING_DOWNLOADS) {
    let more = true;
    while (more) {
      signal.throwIfAborted();
      const beforeMs = clock.nowMs() - retentionMs;
      const step = await writer.write(expireDownloads, systemCallNow(clock), { what, beforeMs });
      removed[what] += step.removed;
      ({ more } = step);
    }
  }
  return removed;
}
