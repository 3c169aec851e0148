import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { statisticsRetention } from "./pulls/retention.ts";
import { measureUsage } from "./usage/measure.ts";

export function registryJobs({ transactor, reader, clock, config: { pullsRetentionMs } }: JobContext): Job[] {
  // With a retention of zero there are no statistics.
  if (pullsRetentionMs === 0) return [];
  return [
    {
      name: "statistics",
      everyMs: HOUR_MS,
      done: "groups measured, and old statistics of pulls removed",
      async run(signal) {
        const { groups } = await measureUsage({ writer: transactor, reader, clock }, signal);
        const removed = await statisticsRetention({ writer: transactor, clock, retentionMs: pullsRetentionMs }, signal);
        return { groups, ...removed };
      },
    },
  ];
}
