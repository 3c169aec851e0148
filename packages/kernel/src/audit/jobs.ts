import { HOUR_MS, type Job, type JobContext } from "../core/job.ts";
import { auditRetention } from "./retention.ts";

export function auditJobs({ transactor, reader, clock, config }: JobContext): Job[] {
  const deps = { writer: transactor, reader, clock, retentionMs: config.auditRetentionMs };
  return [
    {
      name: "audit",
      everyMs: HOUR_MS,
      done: "old audit entries removed",
      run: (signal) => auditRetention(deps, signal),
    },
  ];
}
