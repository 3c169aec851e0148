import { randomUUID } from "node:crypto";
import type { Config } from "@moorage/kernel/config";
import type { Area } from "@moorage/kernel/core/area";
import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Wakes } from "@moorage/kernel/work";
import { type Keyring, rotateKeys } from "@moorage/platform/auth";
import { endDownloadCoverage } from "@moorage/libraries/libraries";
import { endPullCoverage } from "@moorage/registry/registry";
import { longestIntervalMs, periodicJob } from "./periodic-job.ts";
import { renewVexReferrers, type VexElsewhere } from "./vex-referrers.ts";

export interface JobsDeps extends JobContext {
  /** Those whose jobs run, beside the server's own. */
  areas: readonly Area[];
  wakes: Wakes;
  vexElsewhere: VexElsewhere;
  keyring: Pick<Keyring, "refresh">;
  /** Whether this process may write; it runs no job while it may not. */
  mayWrite(): boolean;
}

// The shortest time between the beginnings of two passes over all images.
const VEX_EVERY_MS = 2_000;

/**
 * Replaces an old signing key immediately, and starts the periodic jobs, each of which one process runs for the whole
 * installation. Rejects when that first rotation fails. `stop` begins no more runs, and waits for the steps under way.
 */
export async function startJobs(deps: JobsDeps): Promise<{ stop(): Promise<void> }> {
  await rotateOldKeys(deps);
  if (deps.config.pullsRetentionMs === 0)
    for (const end of [endPullCoverage, endDownloadCoverage])
      await deps.transactor.write(end, systemCallNow(deps.clock), {});
  const holder = randomUUID();
  const jobs = [...deps.areas.flatMap((area) => area.jobs?.(deps) ?? []), ...ownJobs(deps)];
  const running = jobs.map((job) => periodicJob(job, { ...deps, holder }));
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

/** The jobs that need parts of this process beside what areas get: its keys, and the processes that do large work. */
function ownJobs(deps: JobsDeps): Job[] {
  const { transactor, reader, blobs, clock, log, config, vexElsewhere } = deps;
  const vex: Job = {
    name: "vex",
    everyMs: VEX_EVERY_MS,
    done: "VEX documents of images renewed",
    run: (signal) => renewVexReferrers({ transactor, reader, blobs, clock, log, vexElsewhere }, config, signal),
  };
  return [
    {
      name: "keys",
      everyMs: HOUR_MS,
      done: "signing key examined",
      async run() {
        await rotateOldKeys(deps);
        return undefined;
      },
    },
    ...(config.vexReferrers ? [vex] : []),
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
