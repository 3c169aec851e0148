import type { Call } from "@moorage/kernel/core/call";
import { parseJson } from "@moorage/kernel/lib/json";
import { command, whileFull } from "@moorage/kernel/core/command";
import { type Database, putValue } from "@moorage/kernel/store";
import { correctTime } from "./agreed-time.ts";

/** A request for the lease of work that one process does for the whole installation. */
export interface LeaseRequest {
  /** The name of the work. */
  work: string;
  /** The process that requests the lease. */
  holder: string;
  /** How long the lease lasts unless it is renewed, in milliseconds. */
  holdMs: number;
}

// The row of a lease: its holder, when it expires, and when the work is due, both in milliseconds of the agreed time.
interface Lease {
  holder: string;
  untilMs: number;
  dueMs: number;
}

// ";" follows ":".
const END = "lease;";
const keyOf = (work: string): string => `lease:${work}`;

/**
 * Takes or renews the lease. `taken` is false when another process holds it, or the work is not due. The lease of a
 * process that has died expires.
 */
export const takeLease = command(
  "jobs.takeLease",
  async (call: Call, { work, holder, holdMs }: LeaseRequest): Promise<{ taken: boolean }> => {
    const row = await call.tx
      .selectFrom("installation")
      .select("value")
      .where("key", "=", keyOf(work))
      .executeTakeFirst();
    // `put` below writes the value.
    const lease = row === undefined ? undefined : (parseJson(row.value, 4) as Lease);
    if (
      lease !== undefined &&
      (call.agreedMs < lease.dueMs || (call.agreedMs < lease.untilMs && lease.holder !== holder))
    )
      return { taken: false };
    await put(call, work, { holder, untilMs: call.agreedMs + holdMs, dueMs: 0 });
    return { taken: true };
  },
);

/**
 * Gives the lease back; the work is due again in `dueInMs` milliseconds. Does nothing when another process has taken
 * the lease.
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
    await put(call, work, { holder, untilMs: 0, dueMs: call.agreedMs + dueInMs });
  },
);

async function put(call: Call, work: string, lease: Lease): Promise<void> {
  await putValue(call.tx, keyOf(work), JSON.stringify(lease));
}

/** The leases that there are, by the name of the work; `limit` of them at most. Times are those of the agreed time. */
export async function leasesOf(db: Database, limit: number): Promise<(Lease & { work: string })[]> {
  const rows = await db
    .selectFrom("installation")
    .selectAll()
    .where("key", ">=", keyOf(""))
    .where("key", "<", END)
    .orderBy("key")
    .limit(limit)
    .execute();
  return rows.map(({ key, value }) => ({ work: key.slice(keyOf("").length), ...(parseJson(value, 4) as Lease) }));
}

/** The commands of jobs. */
export const jobCommands = whileFull([takeLease, endLease, correctTime]);
