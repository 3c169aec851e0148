import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { blockRetention } from "./blocks/retention.ts";
import { downloadRetention } from "./downloads/retention.ts";
import { removeUnusedUpstreamDocuments } from "./upstreams/retention.ts";

export function libraryJobs({ transactor, reader, clock, config }: JobContext): Job[] {
  const downloads: Job = {
    name: "downloads",
    everyMs: HOUR_MS,
    done: "old statistics of downloads removed",
    run: (signal) => downloadRetention({ writer: transactor, clock, retentionMs: config.pullsRetentionMs }, signal),
  };
  return [
    // With a retention of zero there are no statistics.
    ...(config.pullsRetentionMs === 0 ? [] : [downloads]),
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
