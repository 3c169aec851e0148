import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { eventRetention } from "./retention.ts";

export function eventJobs({ transactor, clock, config }: JobContext): Job[] {
  const deps = { writer: transactor, clock, retentionMs: config.eventsRetentionMs };
  return [
    { name: "events", everyMs: HOUR_MS, done: "old events removed", run: (signal) => eventRetention(deps, signal) },
  ];
}
