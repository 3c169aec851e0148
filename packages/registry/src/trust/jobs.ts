import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import { removeUnusedSignatures } from "./queue/remove.ts";
import { isStatusDue, refreshStatuses } from "./revocation/refresh.ts";
import { removeStatuses } from "./revocation/remove.ts";
import { readSigstoreTuf } from "./roots/file.ts";
import { isAnyDue, refreshRoots } from "./roots/refresh.ts";

/**
 * How often roots and certificates that are due are looked for; each has its own interval. One that is new or changed
 * wakes the job.
 */
const LOOK_EVERY_MS = 10_000;

export function trustJobs({ transactor, reader, clock, log, config }: JobContext): Job[] {
  const mirror = readSigstoreTuf(config);
  const { allowPrivateNetwork, dnsServers } = config;
  const everyMs = Math.max(LOOK_EVERY_MS, config.workPollMs);
  const deps = { transactor, reader, clock, log, mirror, rules: { allowPrivateNetwork, dnsServers } };
  return [
    {
      name: "signatures",
      everyMs: HOUR_MS,
      done: "signatures of removed images removed",
      async run(signal) {
        const work = { transactor, data: systemCallNow(clock) };
        return { ...(await removeUnusedSignatures(work, signal)), ...(await removeStatuses(work, signal)) };
      },
    },
    {
      name: "trust-roots",
      everyMs,
      work: "trust-roots",
      done: "trust roots refreshed",
      isDue: () => isAnyDue(deps),
      run: (signal) => refreshRoots(deps, signal),
    },
    {
      name: "certificate-statuses",
      everyMs,
      work: "certificate-statuses",
      done: "authorities asked about certificates",
      isDue: async () => config.revocation === "online" && (await isStatusDue(deps)),
      run: (signal) => refreshStatuses(deps, signal),
    },
  ];
}
