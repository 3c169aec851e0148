import type { StreamClient } from "@moorage/kernel/lib/stream-client";
import { whileHeld } from "@moorage/kernel/work";
import { UpstreamError } from "../mirroring/index.ts";
import { type ClaimedItem, endAttempt, type Ended, type HeldItem, holdItem } from "./commands.ts";
import { type ReplicationDeps, replicationCall } from "./context.ts";
import { openDestination } from "./destinations.ts";
import { BlockedError } from "./errors.ts";
import type { ByteRate } from "./byte-rates.ts";
import { type Push, pushItem } from "./push.ts";
import { HOLD_MS } from "./queue.ts";

// How often it is looked whether the item is still to be pushed: what stops or deletes it takes effect within that.
const LOOK_MS = 1_000;
const LONGEST_MS = 12 * 3_600_000;

/** Pushes an item that this process holds, and records how that ended. Rejects when that cannot be recorded. */
export async function attemptItem(
  deps: ReplicationDeps,
  client: StreamClient,
  { claimed, holder, byteRate }: { claimed: ClaimedItem; holder: string; byteRate: ByteRate },
  stopping: AbortSignal,
): Promise<void> {
  const { item, rule } = claimed;
  const { replication, repository, tag } = item;
  const held: HeldItem = { replication, repository, tag, holder };
  const renew = renewing(deps, held);
  const ended = await whileHeld(
    { renew, holdMs: 3 * LOOK_MS, log: deps.log, what: "a replicated tag" },
    async (lost): Promise<Ended | undefined> => {
      const givenUp = AbortSignal.any([lost, stopping]);
      const signal = AbortSignal.any([givenUp, AbortSignal.timeout(LONGEST_MS)]);
      const push: Omit<Push, "opened"> = { deps, claimed, held, byteRate, signal, sent: 0 };
      // What it sent is counted, however it ends.
      let whole: Push | undefined;
      const end = (rest: Omit<Ended, "item" | "moveTime" | "bytes">): Ended => ({
        item: held,
        moveTime: item.move_time,
        bytes: whole?.sent ?? 0,
        ...rest,
      });
      try {
        const opened = openDestination(deps, client, rule, { repository, deletes: item.digest === "" });
        whole = { ...push, opened };
        const { digest, reason, isOutdated } = await pushItem(whole);
        return end(
          isOutdated === true
            ? { outcome: "outdated", tried: digest, reason }
            : { outcome: "done", pushed: digest, reason },
        );
      } catch (error) {
        if (lost.aborted) return undefined;
        if (stopping.aborted) return end({ outcome: "released", reason: "" });
        return end(failure(deps, error, signal));
      }
    },
  );
  if (ended === undefined) return;
  deps.metrics.ended(ended.outcome);
  await deps.transactor.write(endAttempt, replicationCall(deps), ended);
}

/** Looks whether the item is still held, and renews the hold where that is due. */
function renewing(deps: ReplicationDeps, held: HeldItem): () => Promise<{ held: boolean }> {
  let renewedMs = performance.now();
  return async () => {
    if (performance.now() - renewedMs > HOLD_MS / 3) {
      renewedMs = performance.now();
      return await deps.transactor.write(holdItem, replicationCall(deps), held);
    }
    const row = await deps.transactor.read(replicationCall(deps), (call) =>
      call.tx
        .selectFrom("replication_items")
        .select("holder")
        .where("replication", "=", held.replication)
        .where("repository", "=", held.repository)
        .where("tag", "=", held.tag)
        .executeTakeFirst(),
    );
    return { held: row?.holder === held.holder };
  };
}

function failure(
  { log }: ReplicationDeps,
  error: unknown,
  signal: AbortSignal,
): Pick<Ended, "outcome" | "reason" | "retryAfterMs" | "isLimited"> {
  if (error instanceof BlockedError) return { outcome: "blocked", reason: error.message };
  if (error instanceof UpstreamError)
    return {
      outcome: "failed",
      reason: error.message,
      isLimited: error.kind === "limited",
      ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    };
  if (signal.aborted) return { outcome: "failed", reason: "it took too long; the next attempt goes on from there" };
  log.warn({ err: error }, "a replicated tag could not be pushed");
  return { outcome: "failed", reason: "an error of this server; its log has the details" };
}
