import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import { removeUnusedAttachments } from "./attached/remove.ts";
import { removeUnusedCatalogs } from "./catalog/remove.ts";
import { dueFeeds, removedFeeds, removeFeeds, updateDueFeeds } from "./feeds/due.ts";
import { findingDaysRetention, measureFindings } from "./finding-days/measure.ts";
import { removeUnusedNotices } from "./findings/remove-notices.ts";
import { removeUnusedScans } from "./scanners/remove.ts";

// How often feeds that are due are looked for; each has its own interval. One that is added, or is to be fetched now,
// wakes the job.
const FEEDS_EVERY_MS = 10_000;

export function securityJobs(context: JobContext): Job[] {
  const { transactor, reader, clock, log, config } = context;
  const feedDeps = { transactor, reader, clock, log };
  return [
    {
      name: "catalogs",
      everyMs: HOUR_MS,
      done: "catalogs of removed images removed",
      async run(signal) {
        const { catalogs } = await removeUnusedCatalogs({ transactor, data: systemCallNow(clock) }, signal);
        const { attachments } = await removeUnusedAttachments({ transactor, data: systemCallNow(clock) }, signal);
        const { scans } = await removeUnusedScans({ transactor, data: systemCallNow(clock) }, signal);
        await removeUnusedNotices({ transactor, data: systemCallNow(clock) }, signal);
        return { catalogs, attachments, scans };
      },
    },
    // With a retention of zero there are no statistics.
    ...(config.pullsRetentionMs === 0 ? [] : [findingDays(context)]),
    {
      name: "feeds",
      everyMs: Math.max(FEEDS_EVERY_MS, config.workPollMs),
      work: "feeds",
      done: "feeds updated",
      isDue: async () => (await dueFeeds(reader, clock.nowMs())).length > 0 || (await removedFeeds(reader)).length > 0,
      async run(signal) {
        const removed = await removeFeeds(feedDeps, signal);
        return { removed, ...(await updateDueFeeds(feedDeps, config, signal)) };
      },
    },
  ];
}

function findingDays({ transactor, reader, clock, config }: JobContext): Job {
  const retention = { writer: transactor, clock, retentionMs: config.pullsRetentionMs };
  return {
    name: "finding-days",
    everyMs: HOUR_MS,
    done: "open findings of groups counted, and old counts removed",
    async run(signal) {
      const { groups } = await measureFindings({ writer: transactor, reader, clock }, signal);
      return { groups, ...(await findingDaysRetention(retention, signal)) };
    },
  };
}
