import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import { removeOldMails } from "./queue.ts";

export function mailJobs({ transactor, clock }: JobContext): Job[] {
  return [
    {
      name: "mails",
      everyMs: HOUR_MS,
      done: "old mails removed",
      async run() {
        await transactor.write(removeOldMails, systemCallNow(clock), {});
        return undefined;
      },
    },
  ];
}
