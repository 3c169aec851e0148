import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import { removeUnusedSignatures } from "./queue/remove.ts";
import { readSigstoreTuf } from "./roots/file.ts";
import { isAnyDue, refreshRoots } from "./roots/refresh.ts";

/** How often roots that are due are looked for; each has its own interval. One that is new or changed wakes the job. */
const ROOTS_EVERY_MS = 10_000;

export function trustJobs({ transactor, reader, clock, log, config }: JobContext): Job[] {
  const mirror = readSigstoreTuf(config);
  const { allowPrivateNetwork, dnsServers } = config;
  const deps = { transactor, reader, clock, log, mirror, rules: { allowPrivateNetwork, dnsServers } };
  return [
    {
      name: "signatures",
      everyMs: HOUR_MS,
      done: "signatures of removed images removed",
      run: (signal) => removeUnusedSignatures({ transactor, data: systemCallNow(clock) }, signal),
    },
    {
      name: "trust-roots",
      everyMs: Math.max(ROOTS_EVERY_MS, config.workPollMs),
      work: "trust-roots",
      done: "trust roots refreshed",
      isDue: () => isAnyDue(deps),
      run: (signal) => refreshRoots(deps, signal),
    },
  ];
}
