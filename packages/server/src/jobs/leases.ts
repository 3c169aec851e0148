import type { Call } from "../core/call.ts";
import { parseJson } from "../lib/json.ts";
import { command } from "../core/command.ts";

/** Work that one process does for all, now and then. */
export interface LeaseRequest {
  /** What is to be done. */
  work: string;
  /** Who wants to do it: a process. */
  holder: string;
  /** How long the work is the holder's without being asked for again, in milliseconds. */
  holdMs: number;
}

// What the row of a lease says: until when who holds it, and before when nobody needs to.
interface Lease {
  holder: string;
  untilMs: number;
  dueMs: number;
}

const keyOf = (work: string): string => `lease:${work}`;

/**
 * Takes or keeps the lease. False: another process holds it, or the work is not due. One whose holder has died is free
 * when its time is over.
 */
export const takeLease = command(
  "jobs.takeLease",
  async (call: Call, { work, holder, holdMs }: LeaseRequest): Promise<{ taken: boolean }> => {
    const row = await call.tx
      .selectFrom("installation")
      .select("value")
      .where("key", "=", keyOf(work))
      .executeTakeFirst();
    // The writing end is `put` below.
    const lease = row === undefined ? undefined : (parseJson(row.value, 4) as Lease);
    if (lease !== undefined && (call.nowMs < lease.dueMs || (call.nowMs < lease.untilMs && lease.holder !== holder)))
      return { taken: false };
    await put(call, work, { holder, untilMs: call.nowMs + holdMs, dueMs: 0 });
    return { taken: true };
  },
  { wakesDelivery: false },
);

/**
 * Gives the lease back; the work is due again in `dueInMs` milliseconds. Nothing happens when another process has taken
 * it.
 */
export const endLease = command(
  "jobs.endLease",
  async (call: Call, { work, holder, dueInMs }: { work: string; holder: string; dueInMs: number }): Promise<void> => {
    const row = await call.tx
      .selectFrom("installation")
      .select("value")
      .where("key", "=", keyOf(work))
      .executeTakeFirst();
    if (row === undefined || (parseJson(row.value, 4) as Lease).holder !== holder) return;
    await put(call, work, { holder, untilMs: 0, dueMs: call.nowMs + dueInMs });
  },
  { wakesDelivery: false },
);

async function put(call: Call, work: string, lease: Lease): Promise<void> {
  const value = JSON.stringify(lease);
  await call.tx
    .insertInto("installation")
    .values({ key: keyOf(work), value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}

/** All that jobs write. */
export const jobCommands = [takeLease, endLease] as const;
