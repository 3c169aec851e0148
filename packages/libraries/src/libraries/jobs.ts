import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { blockRetention } from "./blocks/retention.ts";
import { removeUnusedUpstreamDocuments } from "./upstreams/retention.ts";

export function libraryJobs({ transactor, reader, clock, config }: JobContext): Job[] {
  return [
    {
      name: "blocks",
      everyMs: HOUR_MS,
      done: "old entries of what was blocked removed",
      run: (signal) =>
        blockRetention({ writer: transactor, reader, clock, retentionMs: config.auditRetentionMs }, signal),
    },
    {
      name: "upstreams",
      everyMs: HOUR_MS,
      done: "unused documents of upstreams removed",
      run: (signal) => removeUnusedUpstreamDocuments({ transactor, clock }, signal),
    },
  ];
}
