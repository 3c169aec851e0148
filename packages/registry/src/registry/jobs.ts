import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { endTags } from "./commands.ts";
import { isMeasureDue, measureQuotas } from "./quotas/measure.ts";
import { statisticsRetention } from "./pulls/retention.ts";
import { endDueTags } from "./tag-ends.ts";
import { measureUsage } from "./usage/measure.ts";

const MINUTE_MS = 60_000;
/** How often it is looked whether a quota is to be measured. */
const MEASURE_MS = 5 * MINUTE_MS;

export function registryJobs(context: JobContext): Job[] {
  const { transactor, reader, clock } = context;
  const { pullsRetentionMs } = context.config;
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
  const shares: Job = {
    name: "quota-shares",
    everyMs: MEASURE_MS,
    work: "quotas",
    done: "history, caches and open uploads of groups with quotas measured",
    isDue: () => isMeasureDue(reader, clock.nowMs()),
    run: (signal) => measureQuotas({ ...context, writer: transactor }, signal),
  };
  // With a retention of zero there are no statistics.
  if (pullsRetentionMs === 0) return [ends, shares];
  return [
    ends,
    shares,
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
