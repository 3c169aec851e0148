import type { Call } from "@moorage/kernel/core/call";
import { command, whileFull } from "@moorage/kernel/core/command";
import type { Database, Row } from "@moorage/kernel/store";
import { leaseOn } from "@moorage/kernel/work";
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

/** Each request says how long it holds. */
const LEASES = leaseOn({ table: "job_leases", key: ["work"], holdMs: 0 });

/**
 * Takes or renews the lease. `taken` is false when another process holds it, or the work is not due. The lease of a
 * process that has died expires.
 */
export const takeLease = command(
  "jobs.takeLease",
  async (call: Call, { work, holder, holdMs }: LeaseRequest): Promise<{ taken: boolean }> => {
    const renewed = await LEASES.renew(call, { work, holder }, ["work"], holdMs);
    return { taken: renewed !== undefined || (await LEASES.add(call, { work, holder }, holdMs)) };
  },
);

/**
 * Gives the lease back; the work is due again in `dueInMs` milliseconds. Does nothing when another process has taken
 * the lease.
 */
export const endLease = command(
  "jobs.endLease",
  async (call: Call, { work, holder, dueInMs }: { work: string; holder: string; dueInMs: number }): Promise<void> => {
    if ((await LEASES.renew(call, { work, holder }, ["work"])) === undefined) return;
    // How long a run took is measured in fractions.
    await LEASES.end(call, { work }, { hold_until: Math.round(call.agreedMs + dueInMs) });
  },
);

/** The leases that there are, by the name of the work; `limit` of them at most. */
export async function leasesOf(db: Database, limit: number): Promise<Row<"job_leases">[]> {
  return await db.selectFrom("job_leases").selectAll().orderBy("work").limit(limit).execute();
}

/** The commands of jobs. */
export const jobCommands = whileFull([takeLease, endLease, correctTime]);
