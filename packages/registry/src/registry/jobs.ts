import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { endTags } from "./commands.ts";
import { statisticsRetention } from "./pulls/retention.ts";
import { endDueTags } from "./tag-ends.ts";
import { measureUsage } from "./usage/measure.ts";

const MINUTE_MS = 60_000;

export function registryJobs({ transactor, reader, clock, config: { pullsRetentionMs } }: JobContext): Job[] {
  const ends: Job = {
    name: "tag-ends",
    everyMs: MINUTE_MS,
    done: "tags deleted that were to end",
    async run(signal) {
      const end: Parameters<typeof endDueTags>[0]["end"] = (data, input) => transactor.write(endTags, data, input);
      const done = await endDueTags({ reader, clock, end }, signal);
      return done.ended === 0 ? undefined : done;
    },
  };
  // With a retention of zero there are no statistics.
  if (pullsRetentionMs === 0) return [ends];
  return [
    ends,
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
