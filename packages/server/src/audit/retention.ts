import type { CallData } from "../core/call.ts";
import type { Database } from "../store/index.ts";
import { ENTRIES_AT_ONCE, expireEntries, nextOrganization } from "./commands.ts";
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
  /** How long an entry is kept, in milliseconds. */
  retentionMs: number;
}

/**
 * Removes all entries that are older than they are to be, some in each transaction: others wait for it. Answers how
 * many. `signal` ends it between two.
 */
export async function auditRetention(
  { writer, reader, clock, retentionMs }: RetentionDeps,
  signal: AbortSignal,
): Promise<{ removed: number }> {
  const nowMs = clock.nowMs();
  const data = systemCall(nowMs);
  let removed = 0;
  // What is in no organization stands under the empty name.
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
    } while (last === ENTRIES_AT_ONCE);
  }
  return { removed };
}
