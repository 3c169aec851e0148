import type { Call } from "../core/call.ts";
import type { Row, Tables } from "../store/index.ts";
import { type HeldRow, type Lease, leaseOn, type LeaseOptions, type LeaseTable } from "./lease.ts";

/** A table of leases whose rows wait to be done, and are attempted a number of times. */
export type QueueTable = {
  [T in LeaseTable]: Row<T> extends { state: number; attempts: number; reason: string } ? T : never;
}[LeaseTable] &
  keyof Tables;

export interface QueueOptions<T extends QueueTable, K extends keyof Row<T> & string> extends LeaseOptions<T, K> {
  states: { waiting: number; done: number; failed: number };
  /** What else is written with a row that is done or has failed, such as when. Defaults to nothing. */
  ended?(call: Call): Partial<Row<T>>;
  /** Follows in the transaction in which something has failed for good. Defaults to nothing. */
  failed?(call: Call, row: Pick<Row<T>, K>, reason: string): Promise<void>;
}

/** What a claim came to: the row is held, another process has it, or it was attempted too often and has failed. */
type ClaimOutcome = "held" | "lost" | "failed";

/**
 * A table as a queue: what waits in it is claimed by a process, written in parts while the claim is renewed, and
 * finished, or failed and attempted again later. The order in which rows are claimed is that of the query of whoever
 * claims.
 */
export interface Queue<T extends QueueTable, K extends keyof Row<T> & string> extends Lease<T, K> {
  /**
   * Claims a row that was read in this transaction, and counts the attempt. One that was attempted `maxAttempts` times
   * has failed, for its last reason or `reason`.
   */
  claim(
    call: Call,
    row: Pick<Row<T>, K> & { attempts: number; reason: string },
    options: { holder: string; maxAttempts: number; reason: string; set?: Partial<Row<T>> },
  ): Promise<ClaimOutcome>;
  /** Whether the claim still holds; renews it. */
  isHeld(call: Call, row: HeldRow<T, K>): Promise<{ held: boolean }>;
  /** What was claimed is done, in a transaction that has renewed the claim. */
  finish(call: Call, row: Pick<Row<T>, K>, set?: Partial<Row<T>>): Promise<void>;
  /** It has failed for good, in a transaction that has renewed the claim. */
  fail(call: Call, row: Pick<Row<T>, K>, reason: string): Promise<void>;
  /**
   * The attempt failed. `delayOf`: after how many milliseconds the next one is due, by the number of attempts so far;
   * undefined when there is none. Answers what it came to; undefined when another process has taken it.
   */
  failAttempt(
    call: Call,
    row: HeldRow<T, K>,
    options: { reason: string; delayOf(attempts: number): number | undefined },
  ): Promise<"failed" | "again" | undefined>;
  /** Nobody does it any longer, since the process shuts down: the attempt does not count. */
  release(call: Call, row: HeldRow<T, K>): Promise<void>;
}

/** The queue of this table. */
export function queueOn<T extends QueueTable, K extends keyof Row<T> & string>({
  states,
  ended = () => ({}),
  failed = async () => {},
  ...options
}: QueueOptions<T, K>): Queue<T, K> {
  const lease = leaseOn(options);
  // Every table of queues has these columns.
  const set = (columns: object): Partial<Row<T>> => columns as Partial<Row<T>>;
  const fail: Queue<T, K>["fail"] = async (call, row, reason) => {
    await lease.end(call, row, set({ state: states.failed, reason, ...ended(call) }));
    await failed(call, row, reason);
  };
  const attemptsOf = async (call: Call, row: HeldRow<T, K>): Promise<number | undefined> =>
    ((await lease.renew(call, row, ["attempts" as keyof Row<T> & string])) as { attempts: number } | undefined)
      ?.attempts;
  return {
    ...lease,
    async claim(call, { attempts, reason: last, ...row }, { holder, maxAttempts, reason, set: more = {} }) {
      const held = { ...row, holder } as unknown as HeldRow<T, K>;
      if (!(await lease.take(call, held, set({ attempts: attempts + 1, ...more })))) return "lost";
      if (attempts < maxAttempts) return "held";
      await fail(call, held, last || reason);
      return "failed";
    },
    isHeld: async (call, row) => ({ held: (await attemptsOf(call, row)) !== undefined }),
    finish: (call, row, more = {}) =>
      lease.end(call, row, set({ state: states.done, reason: "", ...ended(call), ...more })),
    fail,
    async failAttempt(call, row, { reason, delayOf }) {
      const attempts = await attemptsOf(call, row);
      if (attempts === undefined) return undefined;
      const delayMs = delayOf(attempts);
      if (delayMs === undefined) {
        await fail(call, row, reason);
        return "failed";
      }
      await lease.end(call, row, set({ state: states.waiting, reason, hold_until: call.agreedMs + delayMs }));
      return "again";
    },
    async release(call, row) {
      const attempts = await attemptsOf(call, row);
      if (attempts === undefined) return;
      await lease.end(call, row, set({ state: states.waiting, hold_until: call.agreedMs, attempts: attempts - 1 }));
    },
  };
}
