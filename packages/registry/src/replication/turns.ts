import { ReplicationItemState } from "@moorage/api/messages";
import { sql } from "kysely";
import type { Call } from "@moorage/kernel/core/call";
import type { Database, Row } from "@moorage/kernel/store";
import { ENDS_WITHIN_MS } from "./queue.ts";

const { PENDING, RUNNING, FAILED, BLOCKED, STOPPED } = ReplicationItemState;

/** How often all tags are compared where a rule says only `on_push`, in seconds. */
const DEFAULT_INTERVAL_S = 3_600;

/**
 * After how many milliseconds all tags are compared again; undefined when only a run does that.
 */
export function intervalMs({
  interval_s: seconds,
  on_push: onPush,
}: Pick<Row<"replications">, "interval_s" | "on_push">): number | undefined {
  if (seconds !== null) return seconds * 1000;
  return onPush === 1 ? DEFAULT_INTERVAL_S * 1000 : undefined;
}

/** When the tags of a new or changed rule are compared first; null when only a run does that. */
export function firstScan(
  { agreedMs }: Call,
  row: Pick<Row<"replications">, "interval_s" | "on_push" | "disabled">,
): number | null {
  return row.disabled === 1 || intervalMs(row) === undefined ? null : agreedMs;
}

/** Takes what is under way from its processes, so that they end; it waits until they have. */
export async function takeBack({ tx, agreedMs }: Call, replication: string): Promise<void> {
  await tx
    .updateTable("replication_items")
    .set({ state: PENDING, holder: "", hold_until: agreedMs + ENDS_WITHIN_MS })
    .where("replication", "=", replication)
    .where("state", "=", RUNNING)
    .execute();
}

/** Ends what is under way, and takes back what waits. */
export async function stopItems({ tx, agreedMs }: Call, replication: string): Promise<void> {
  for (const [state, until] of [
    [PENDING, 0],
    [RUNNING, agreedMs + ENDS_WITHIN_MS],
  ] as const)
    await tx
      .updateTable("replication_items")
      .set({ state: STOPPED, holder: "", hold_until: until, reason: "stopped; a run goes on" })
      .where("replication", "=", replication)
      .where("state", "=", state)
      .execute();
}

/** Has what failed, was stopped or is blocked attempted again; deletions that are blocked only with `force`. */
export async function retryItems({ tx, agreedMs, nowMs }: Call, replication: string, force: boolean): Promise<void> {
  // What was under way a moment ago may be still, in any process.
  const endsMs = agreedMs + ENDS_WITHIN_MS;
  const soonest = sql<number>`case when hold_until > ${agreedMs} and hold_until <= ${endsMs} then hold_until else ${agreedMs} end`;
  const waiting = { state: PENDING, holder: "", attempts: 0, wait_time: nowMs, reason: "" };
  const again = tx
    .updateTable("replication_items")
    .set({ ...waiting, hold_until: soonest })
    .where("replication", "=", replication)
    .where("state", "in", [FAILED, BLOCKED, STOPPED]);
  await (
    force ? again : again.where(({ or, eb }) => or([eb("state", "!=", BLOCKED), eb("digest", "!=", "")]))
  ).execute();
  // What waits for its next attempt need not wait any longer.
  await tx
    .updateTable("replication_items")
    .set({ hold_until: soonest, attempts: 0 })
    .where("replication", "=", replication)
    .where("state", "=", PENDING)
    .execute();
}

/** Forgets what was pushed, such as when it is pushed to somewhere else from now on. */
export async function forgetItems(tx: Database, replication: string): Promise<void> {
  await tx.deleteFrom("replication_items").where("replication", "=", replication).execute();
}

/** The comparison that is due does not begin; the next one is due after the rule's interval. */
export async function endTurn({ tx, agreedMs, nowMs }: Call, row: Row<"replications">): Promise<void> {
  const everyMs = intervalMs(row);
  await tx
    .updateTable("replications")
    .set({ scan_time: everyMs === undefined ? null : agreedMs + everyMs, seen_time: row.seen_time || nowMs, forced: 0 })
    .where("uid", "=", row.uid)
    .execute();
}
