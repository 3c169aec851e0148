import type { CallData } from "../core/call.ts";
import type { Database } from "../store/index.ts";
import { ENTRIES_PER_TRANSACTION, expireEntries, nextOrganization } from "./commands.ts";
import { systemCall } from "../core/system-call.ts";

export interface RetentionDeps {
  writer: {
    write(
      command: typeof expireEntries,
      data: CallData,
      input: { organization: string; beforeMs: number },
    ): Promise<{ removed: number }>;
  };
  reader: Database;
  clock: { nowMs(): number };
  /** How long an entry is retained, in milliseconds. */
  retentionMs: number;
}

/**
 * Removes all entries older than the retention, in several transactions, so that other writers wait only briefly.
 * Returns how many. `signal` stops it between two transactions.
 */
export async function auditRetention(
  { writer, reader, clock, retentionMs }: RetentionDeps,
  signal: AbortSignal,
): Promise<{ removed: number }> {
  const nowMs = clock.nowMs();
  const data = systemCall(nowMs);
  let removed = 0;
  // Entries of no organization are stored under the empty name.
  for (
    let organization: string | undefined = "";
    organization !== undefined;
    organization = await nextOrganization(reader, organization)
  ) {
    let last: number;
    do {
      signal.throwIfAborted();
      last = (await writer.write(expireEntries, data, { organization, beforeMs: nowMs - retentionMs })).removed;
      removed += last;
    } while (last === ENTRIES_PER_TRANSACTION);
  }
  return { removed };
}
