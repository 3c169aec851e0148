import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { CallData } from "../core/call.ts";
import type { Transactor } from "../core/transactor.ts";
import type { Clock } from "../lib/clock.ts";
import { systemCall } from "../core/system-call.ts";
import { endLease, takeLease } from "./leases.ts";

/** Work that one process of the installation does for all, now and then. */
export interface Job {
  /** The name of its lease. */
  name: string;
  /** How long after it was begun it is due again, in milliseconds. */
  everyMs: number;
  /** What the log says when a run has come to its end. */
  done: string;
  /** One run. `signal` ends it between two steps; it rejects then. Answers what it did, as fields for the log. */
  run(signal: AbortSignal): Promise<object>;
}

export interface PeriodicJobDeps {
  transactor: Transactor;
  clock: Clock;
  log: Logger;
  /** This process, as leases name it. */
  holder: string;
}

/** A job that runs when it is due and no other process does it. */
export interface PeriodicJob {
  /** Begins no more runs, ends the one under way between two steps, and waits for that. */
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 600_000;
// A process that dies at it keeps the others from it for so long; one that lives asks again in time.
const HOLD_MS = 300_000;

/** The most time between the beginnings of two runs of a job that is due every `everyMs`, in milliseconds. */
export function longestIntervalMs(everyMs: number): number {
  return everyMs + Math.min(LOOK_EVERY_MS, everyMs);
}

/**
 * Starts the job in this process: it looks now and then whether the job is due, and runs it under the job's lease in the
 * database, which one process holds at a time. Two that ran it at the same time, with clocks far apart, would do no harm.
 */
export function periodicJob({ name, everyMs, done, run }: Job, deps: PeriodicJobDeps): PeriodicJob {
  const { transactor, clock, log, holder } = deps;
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const data = (): CallData => systemCall(clock.nowMs(), randomUUID());
  const take = (): Promise<{ taken: boolean }> =>
    transactor.write(takeLease, data(), { work: name, holder, holdMs: HOLD_MS });
  const runOnce = async (): Promise<void> => {
    const result = run(stopping.signal);
    running = result.catch(() => {});
    log.info(await result, done);
  };
  const turn = async (): Promise<void> => {
    if (!(await take()).taken || stopping.signal.aborted) return;
    const held = setInterval(
      () => void take().catch((error: unknown) => log.warn({ err: error }, "keeping the lease failed")),
      HOLD_MS / 3,
    ).unref();
    try {
      const startedMs = clock.nowMs();
      await runOnce();
      const tookMs = clock.nowMs() - startedMs;
      await transactor.write(endLease, data(), { work: name, holder, dueInMs: Math.max(0, everyMs - tookMs) });
    } finally {
      clearInterval(held);
    }
  };
  let working = false;
  const timer = setInterval(
    () => {
      if (working) return;
      working = true;
      turn()
        .catch((error: unknown) => {
          // A run that was broken off at the end of the server keeps its lease: another process takes it when its time
          // is over, which is soon.
          if (!stopping.signal.aborted) log.error({ err: error, work: name }, "housekeeping failed");
        })
        .finally(() => {
          working = false;
        });
    },
    Math.min(LOOK_EVERY_MS, everyMs),
  ).unref();
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
