import type { CallData } from "@moorage/kernel/core/call";
import { systemCall } from "@moorage/kernel/core/system-call";
import { type Expired, expireEvents, type ExpireRequest, EXPIRING } from "./expire.ts";

export interface EventRetentionDeps {
  writer: { write(command: typeof expireEvents, data: CallData, input: ExpireRequest): Promise<Expired> };
  clock: { nowMs(): number };
  /** How long events and ended deliveries are retained, in milliseconds. */
  retentionMs: number;
}

// Retained longer, so that there is time to look at dead letters, and for a sink to recover before its deliveries
// become dead letters.
const LONGER: ReadonlySet<ExpireRequest["what"]> = new Set(["dead", "overdue"]);
const DEAD_RETENTION_MS = 30 * 24 * 3_600_000;

/**
 * Removes what is older than the retention, in several transactions, so that other writers wait only briefly. Returns
 * how many rows of which kind. `signal` stops it between two transactions.
 */
export async function eventRetention(
  { writer, clock, retentionMs }: EventRetentionDeps,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const nowMs = clock.nowMs();
  const data = systemCall(nowMs);
  const removed: Record<string, number> = {};
  for (const what of EXPIRING) {
    const beforeMs = nowMs - (LONGER.has(what) ? Math.max(retentionMs, DEAD_RETENTION_MS) : retentionMs);
    let sum = 0;
    let step: Expired = { removed: 0, more: true };
    while (step.more) {
      signal.throwIfAborted();
      step = await writer.write(expireEvents, data, {
        what,
        beforeMs,
        ...(step.after !== undefined && { after: step.after }),
      });
      sum += step.removed;
    }
    removed[what] = sum;
  }
  return removed;
}
