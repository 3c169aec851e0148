import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import { removeUnusedSignatures } from "./queue/remove.ts";

export function trustJobs({ transactor, clock }: JobContext): Job[] {
  return [
    {
      name: "signatures",
      everyMs: HOUR_MS,
      done: "signatures of removed images removed",
      run: (signal) => removeUnusedSignatures({ transactor, data: systemCallNow(clock) }, signal),
    },
  ];
}
