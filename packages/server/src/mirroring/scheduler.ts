import { randomUUID } from "node:crypto";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import { claimDue, type ClaimedMirror, type RunDeps, runMirror } from "./run.ts";

/** Runs the mirrors that are due, in one process. */
export interface MirrorScheduler {
  /** Interrupts the runs under way and waits until they have ended. */
  stop(): Promise<void>;
}

// How often a process looks for repos that are due.
const POLL_EVERY_MS = 1_000;

/**
 * Starts to copy the repos that are due, as many concurrently as the settings say. Processes share the work: each repo
 * is copied by one process at a time.
 */
export function startScheduler(deps: RunDeps): MirrorScheduler {
  const scheduler = new Scheduler(deps);
  scheduler.start();
  return scheduler;
}

class Scheduler implements MirrorScheduler {
  readonly #runDeps: RunDeps;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;

  constructor(deps: RunDeps) {
    this.#runDeps = deps;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#poll(), POLL_EVERY_MS);
    void this.#poll();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await Promise.allSettled(this.#running);
  }

  /** Claims and starts runs until none is due or the limit is reached. */
  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    const { deps } = this.#runDeps;
    try {
      while ((await isAnyDue(deps)) && !this.#stopping.signal.aborted && this.#hasCapacity()) {
        const claimed = await claimDue(deps, randomUUID());
        if (claimed === undefined) break;
        this.#start(claimed);
      }
    } catch (error) {
      if (!this.#stopping.signal.aborted) deps.log.warn({ err: error }, "looking for mirrors that are due failed");
    } finally {
      this.#isPolling = false;
    }
  }

  #hasCapacity(): boolean {
    return this.#running.size < this.#runDeps.deps.config.mirrorWorkers;
  }

  #start(claimed: ClaimedMirror): void {
    const { log } = this.#runDeps.deps;
    const running: Promise<void> = runMirror(this.#runDeps, claimed, this.#stopping.signal)
      .catch((error: unknown) =>
        log.warn({ err: error, repo: claimed.due.repo }, "the end of a mirror run could not be recorded"),
      )
      .finally(() => {
        this.#running.delete(running);
        void this.#poll();
      });
    this.#running.add(running);
  }
}

/** Whether a repo is due and not held. Reports how late the first one is to the metrics. */
async function isAnyDue(deps: MirrorDeps): Promise<boolean> {
  const nowMs = deps.clock.agreedMs();
  const due = await deps.transactor.read(mirrorCall(deps), (call) =>
    call.tx
      .selectFrom("mirrors")
      .select("next_time")
      .where("next_time", "<=", nowMs)
      .where("hold_until", "<=", nowMs)
      .orderBy("next_time")
      .limit(1)
      .executeTakeFirst(),
  );
  deps.metrics.late(due === undefined ? 0 : nowMs - due.next_time);
  return due !== undefined;
}
