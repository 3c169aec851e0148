import type { Logger } from "pino";
import type { CallData } from "@moorage/kernel/core/call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Job } from "@moorage/kernel/core/job";
import type { Clock } from "@moorage/kernel/lib/clock";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import { startWorker, type Wakes, whileHeld } from "@moorage/kernel/work";
import { endLease, takeLease } from "./leases.ts";

export interface PeriodicJobDeps {
  transactor: Transactor;
  wakes: Wakes;
  clock: Clock;
  log: Logger;
  /** This process's name in leases. */
  holder: string;
  /** Whether this process may write; it runs no job while it may not. */
  mayWrite(): boolean;
}

/** A job that runs when it is due and no other process runs it. */
export interface PeriodicJob {
  /** Begins no more runs, ends the run under way between two steps, and waits for it. */
  stop(): Promise<void>;
}

const CHECK_EVERY_MS = 600_000;
// How long a process that dies in a run keeps others from running the job; a live process renews its lease in time.
const HOLD_MS = 300_000;

/** The longest time between the beginnings of two runs of a job that is due every `everyMs`, in milliseconds. */
export function longestIntervalMs(everyMs: number): number {
  return everyMs + Math.min(CHECK_EVERY_MS, everyMs);
}

/**
 * Starts the job in this process: it checks periodically whether the job is due, and runs it under the job's lease in
 * the database, which one process holds at a time. Two concurrent runs, after a process was suspended in its run, would
 * do no harm.
 */
export function periodicJob(
  { name, everyMs, work, done, isDue = async () => true, run }: Job,
  deps: PeriodicJobDeps,
): PeriodicJob {
  const { transactor, wakes, clock, log, holder, mayWrite } = deps;
  const stopping = new AbortController();
  const data = (): CallData => systemCallNow(clock);
  const take = (): Promise<{ taken: boolean }> =>
    transactor.write(takeLease, data(), { work: name, holder, holdMs: HOLD_MS });
  const runOnce = async (): Promise<void> => {
    const fields = await run(stopping.signal);
    if (fields !== undefined) log.info(fields, done);
  };
  const runIfDue = async (): Promise<void> => {
    if (!(await isDue()) || !(await take()).taken || stopping.signal.aborted) return;
    const renew = async (): Promise<{ held: boolean }> => ({ held: (await take()).taken });
    // One that has lost its lease goes on: two concurrent runs would do no harm.
    await whileHeld({ renew, holdMs: HOLD_MS, log, what: `the job ${name}` }, async () => {
      const startedMs = clock.monotonicMs();
      await runOnce();
      const tookMs = clock.monotonicMs() - startedMs;
      const dueInMs = work === undefined ? Math.max(0, everyMs - tookMs) : 0;
      await transactor.write(endLease, data(), { work: name, holder, dueInMs });
    });
  };
  const pollMs = Math.min(CHECK_EVERY_MS, everyMs);
  const worker = startWorker({
    async run() {
      try {
        await runIfDue();
      } catch (error) {
        // A run that shutdown interrupted keeps its lease, so that another process takes the job when the lease
        // expires, which is soon.
        if (!stopping.signal.aborted) log.error({ err: error, work: name }, "job failed");
      }
    },
    what: `the job ${name}`,
    pollMs,
    firstMs: pollMs,
    stopping,
    log,
    isPaused: () => !mayWrite(),
  });
  if (work !== undefined) wakes.on(work, worker.wake);
  return { stop: worker.stop };
}
