import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { systemCall } from "@moorage/kernel/core/system-call";
import { type Database, statement } from "@moorage/kernel/store";
import { BLOCKS_PER_TRANSACTION, expireBlocks } from "./commands.ts";

interface BlockRetentionDeps {
  writer: CommandWriter;
  reader: Database;
  clock: { nowMs(): number };
  /** How long an entry is kept after its last request, in milliseconds. */
  retentionMs: number;
  /** The most entries that an organization keeps. Defaults to 50,000. */
  maxRows?: number;
}

const MAX_ROWS = 50_000;

const selectNext = statement<{ organization: string }>(
  "select organization from artifact_blocks where organization > ? order by organization limit 1",
  ["text"],
);

/**
 * Removes what was blocked longer ago than the retention, and more than an organization may have, in several
 * transactions. Returns how many. `signal` stops it between two transactions.
 */
export async function blockRetention(
  { writer, reader, clock, retentionMs, maxRows = MAX_ROWS }: BlockRetentionDeps,
  signal: AbortSignal,
): Promise<{ removed: number }> {
  const nowMs = clock.nowMs();
  let removed = 0;
  for (
    let organization = (await selectNext(reader, ""))[0]?.organization;
    organization !== undefined;
    organization = (await selectNext(reader, organization))[0]?.organization
  ) {
    let last: number;
    do {
      signal.throwIfAborted();
      ({ removed: last } = await writer.write(expireBlocks, systemCall(nowMs), {
        organization,
        beforeMs: nowMs - retentionMs,
        maxRows,
      }));
      removed += last;
    } while (last === BLOCKS_PER_TRANSACTION);
  }
  return { removed };
}
