import type { Transactor } from "@moorage/kernel/core/transactor";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Clock } from "@moorage/kernel/lib/clock";
import { removeUnusedDocuments } from "./commands.ts";

/** What nobody has asked for in this time is removed; it comes again when somebody does. */
const UNUSED_MS = 90 * 24 * 3_600_000;
const BATCH = 200;

/** Removes documents of upstreams that are gone, and such that nobody asks for any more. Answers how many. */
export async function removeUnusedUpstreamDocuments(
  { transactor, clock }: { transactor: Transactor; clock: Clock },
  signal: AbortSignal,
): Promise<{ documents: number }> {
  let documents = 0;
  while (!signal.aborted) {
    const { removed } = await transactor.write(removeUnusedDocuments, systemCallNow(clock), {
      beforeMs: clock.nowMs() - UNUSED_MS,
      limit: BATCH,
    });
    documents += removed;
    if (removed < BATCH) break;
  }
  return { documents };
}
