import { ReplicationItemState } from "@moorage/api/messages";
import { type Queue, queueOn } from "@moorage/kernel/work";

const { PENDING, DONE, FAILED } = ReplicationItemState;

/** How long the items of a process that died stay held, in milliseconds. */
export const HOLD_MS = 15_000;
/** Within how many milliseconds a process ends what was taken from it: until then nobody else begins. */
export const ENDS_WITHIN_MS = 5_000;
/** How often an item is attempted. */
export const MAX_ATTEMPTS = 10;
const FIRST_BACK_OFF_MS = 10_000;
const LONGEST_BACK_OFF_MS = 3_600_000;

/** The items as a queue. */
export const ITEMS: Queue<"replication_items", "replication" | "repository" | "tag"> = queueOn({
  table: "replication_items",
  key: ["replication", "repository", "tag"],
  holdMs: HOLD_MS,
  states: { waiting: PENDING, done: DONE, failed: FAILED },
});

/**
 * After how many milliseconds the next attempt follows: it grows with each one, and is never shorter than the
 * destination's Retry-After. Undefined after the last. Random, so that items do not all come back together.
 */
export function delayAfter(attempts: number, retryAfterMs = 0): number | undefined {
  if (attempts >= MAX_ATTEMPTS) return undefined;
  const longest = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(attempts - 1, 20));
  return Math.round(Math.max(longest * (0.5 + Math.random() / 2), retryAfterMs));
}
