import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * The leases of what one process does for the whole installation, by the name of the work. `holder`: the process
     * that does it, until `hold_until` in milliseconds of the agreed time; empty when nobody does, and the work is due
     * at that time.
     */
    job_leases: { work: string; holder: string; hold_until: number };
  }
}

export const JOB_TABLES = declareTables({
  job_leases: { key: ["work"], isLive: true },
});
