import { randomUUID } from "node:crypto";
import { auditRetention } from "@moorage/kernel/audit";
import type { BlobStore } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Database } from "@moorage/kernel/store";
import { blockRetention, removeUnusedUpstreamDocuments } from "@moorage/libraries/libraries";
import { type Keyring, rotateKeys } from "@moorage/platform/auth";
import { eventRetention } from "@moorage/platform/events";
import { removeOldMails } from "@moorage/platform/mail";
import { describeProcess, processOfOtherSchema } from "@moorage/platform/processes";
import { cleanUploads, type Collected, collectGarbage } from "@moorage/registry/oci";
import { endPullCoverage, measureUsage, statisticsRetention } from "@moorage/registry/registry";
import {
  dueFeeds,
  findingDaysRetention,
  measureFindings,
  removedFeeds,
  removeFeeds,
  removeUnusedAttachments,
  removeUnusedCatalogs,
  removeUnusedNotices,
  removeUnusedScans,
  updateDueFeeds,
} from "@moorage/security/security";
import { removeUnusedSignatures } from "@moorage/registry/trust";
import { type Job, longestIntervalMs, periodicJob, type PeriodicJobDeps } from "./periodic-job.ts";
import { renewVexReferrers, type VexElsewhere } from "./vex-referrers.ts";

export interface JobsDeps extends Omit<PeriodicJobDeps, "holder"> {
  reader: Database;
  blobs: BlobStore;
  vexElsewhere: VexElsewhere;
  keyring: Pick<Keyring, "refresh">;
  config: Pick<
    Config,
    | "signingKeyAgeMs"
    | "uploadTtlMs"
    | "gcIntervalMs"
    | "gcGraceMs"
    | "auditRetentionMs"
    | "eventsRetentionMs"
    | "pullsRetentionMs"
    | "allowPrivateNetwork"
    | "dnsServers"
    | "vexReferrers"
    | "baseUrl"
    | "registryUrl"
    | "workPollMs"
  >;
  /** Called with the result of each garbage collection that completed, and its end. */
  collected(collected: Collected, atMs: number): void;
}

const HOUR_MS = 3_600_000;
// How often feeds that are due are looked for; each has its own interval. One that is added, or is to be fetched now,
// wakes the job.
const FEEDS_EVERY_MS = 10_000;
// The shortest time between the beginnings of two passes over all images.
const VEX_EVERY_MS = 2_000;

/**
 * Replaces an old signing key immediately, and starts the periodic jobs, each of which one process runs for the whole
 * installation. Rejects when that first rotation fails. `stop` begins no more runs, and waits for the steps under way.
 */
export async function startJobs(deps: JobsDeps): Promise<{ stop(): Promise<void> }> {
  await rotateOldKeys(deps);
  if (deps.config.pullsRetentionMs === 0) await deps.transactor.write(endPullCoverage, systemCallNow(deps.clock), {});
  const holder = randomUUID();
  const running = jobsOf(deps).map((job) => periodicJob(job, { ...deps, holder }));
  return { stop: async () => void (await Promise.all(running.map((job) => job.stop()))) };
}

/**
 * When the space of content is free again after the last need for it ended: after the grace period a run begins within
 * `runWithinMs` (undefined when only the command runs it), and after a crash `afterCrashMs` later. In milliseconds.
 */
export function gcPromise({ gcIntervalMs, uploadTtlMs }: Pick<Config, "gcIntervalMs" | "uploadTtlMs">): {
  runWithinMs: number | undefined;
  afterCrashMs: number;
} {
  return {
    runWithinMs: gcIntervalMs === 0 ? undefined : longestIntervalMs(gcIntervalMs),
    afterCrashMs: uploadTtlMs + longestIntervalMs(HOUR_MS),
  };
}

function jobsOf(deps: JobsDeps): Job[] {
  const { transactor, reader, clock, config, log } = deps;
  return [
    {
      name: "housekeeping",
      everyMs: HOUR_MS,
      done: "abandoned uploads cleaned",
      async run(signal) {
        await rotateOldKeys(deps);
        await transactor.write(removeOldMails, systemCallNow(clock), {});
        return await cleanUploads(deps, signal);
      },
    },
    // With an interval of zero only the command collects garbage.
    ...(config.gcIntervalMs === 0 ? [] : [collection(deps)]),
    {
      name: "audit",
      everyMs: HOUR_MS,
      done: "old audit entries removed",
      run: (signal) =>
        auditRetention({ writer: transactor, reader, clock, retentionMs: config.auditRetentionMs }, signal),
    },
    {
      name: "blocks",
      everyMs: HOUR_MS,
      done: "old entries of what was blocked removed",
      run: (signal) =>
        blockRetention({ writer: transactor, reader, clock, retentionMs: config.auditRetentionMs }, signal),
    },
    {
      name: "catalogs",
      everyMs: HOUR_MS,
      done: "catalogs of removed images removed",
      async run(signal) {
        const { catalogs } = await removeUnusedCatalogs({ transactor, data: systemCallNow(clock) }, signal);
        const { attachments } = await removeUnusedAttachments({ transactor, data: systemCallNow(clock) }, signal);
        const { scans } = await removeUnusedScans({ transactor, data: systemCallNow(clock) }, signal);
        await removeUnusedNotices({ transactor, data: systemCallNow(clock) }, signal);
        const { signatures } = await removeUnusedSignatures({ transactor, data: systemCallNow(clock) }, signal);
        return { catalogs, attachments, scans, signatures };
      },
    },
    {
      name: "upstreams",
      everyMs: HOUR_MS,
      done: "unused documents of upstreams removed",
      run: (signal) => removeUnusedUpstreamDocuments({ transactor, clock }, signal),
    },
    {
      name: "events",
      everyMs: HOUR_MS,
      done: "old events removed",
      run: (signal) => eventRetention({ writer: transactor, clock, retentionMs: config.eventsRetentionMs }, signal),
    },
    ...(config.pullsRetentionMs === 0
      ? []
      : [
          {
            name: "statistics",
            everyMs: HOUR_MS,
            done: "groups measured, findings counted, and old statistics removed",
            async run(signal: AbortSignal) {
              const { groups } = await measureUsage({ writer: transactor, reader, clock }, signal);
              await measureFindings({ writer: transactor, reader, clock }, signal);
              const retention = { writer: transactor, clock, retentionMs: config.pullsRetentionMs };
              const removed = await statisticsRetention(retention, signal);
              return { groups, ...removed, ...(await findingDaysRetention(retention, signal)) };
            },
          },
        ]),
    {
      name: "feeds",
      everyMs: Math.max(FEEDS_EVERY_MS, config.workPollMs),
      work: "feeds",
      done: "feeds updated",
      isDue: async () => (await dueFeeds(reader, clock.nowMs())).length > 0 || (await removedFeeds(reader)).length > 0,
      async run(signal) {
        const removed = await removeFeeds({ transactor, reader, clock, log }, signal);
        return { removed, ...(await updateDueFeeds({ transactor, reader, clock, log }, config, signal)) };
      },
    },
    ...(config.vexReferrers
      ? [
          {
            name: "vex",
            everyMs: VEX_EVERY_MS,
            done: "VEX documents of images renewed",
            run: (signal: AbortSignal) =>
              renewVexReferrers(
                { transactor, reader, blobs: deps.blobs, clock, log, vexElsewhere: deps.vexElsewhere },
                config,
                signal,
              ),
          },
        ]
      : []),
  ];
}

async function rotateOldKeys({ transactor, clock, keyring, config, log }: JobsDeps): Promise<void> {
  const { rotated } = await transactor.write(rotateKeys, systemCallNow(clock), {
    maxAgeMs: config.signingKeyAgeMs,
  });
  if (!rotated) return;
  keyring.refresh();
  log.info("signing key rotated");
}

function collection({ transactor, reader, blobs, clock, config, log, collected }: JobsDeps): Job {
  const { gcIntervalMs: everyMs, gcGraceMs: graceMs, uploadTtlMs } = config;
  return {
    name: "gc",
    everyMs,
    done: "garbage collected",
    async isDue() {
      const other = await processOfOtherSchema(reader, clock.agreedMs());
      if (other !== undefined) log.warn(`nothing is collected while ${describeProcess(other)}, runs beside this one`);
      return other === undefined;
    },
    async run(signal) {
      const nowMs = clock.nowMs();
      const startedMs = clock.monotonicMs();
      const result = await collectGarbage(
        { transactor, blobs },
        { nowMs, agreedMs: clock.agreedMs(), graceMs, uploadTtlMs, dryRun: false, signal },
      );
      collected(result, clock.nowMs());
      return { ...result, durationMs: Math.round(clock.monotonicMs() - startedMs) };
    },
  };
}
