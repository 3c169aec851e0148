import { randomUUID } from "node:crypto";
import { createLru } from "@moorage/kernel/lib/lru";
import { organizationOf } from "@moorage/kernel/lib/uid";
import { createTasks, startWorker, type Tasks, type Wakes, type Worker } from "@moorage/kernel/work";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import { nextDue, type WaitingMirror } from "./next-mirror.ts";
import { claimDue, type ClaimedMirror, type RunDeps, runMirror } from "./run.ts";

/** Runs the mirrors that are due, in one process. */
export interface MirrorScheduler {
  /** Interrupts the runs under way and waits until they have ended. */
  stop(): Promise<void>;
}

/** A run under way. */
interface Run {
  organization: string;
  beganMs: number;
  /** How long it may hold its worker while others wait. */
  sliceMs: number;
  /** When it was asked to pause. */
  pausedMs: number | undefined;
  pause: AbortController;
  stop: AbortController;
}

// How often it looks whether a run has had its slice, while a repo waits for a worker.
const LOOK_AGAIN_MS = 1_000;
const MAX_REMEMBERED = 10_000;
const LONGEST_SLICE_MS = 12 * 3_600_000;

/**
 * Starts to copy the repos that are due, as many concurrently as the settings say. Processes share the work: each repo
 * is copied by one process at a time. Organizations share the workers: when a repo waits and no worker is free, a run
 * that has had its slice ends after its tag, or one slice later as it is, and goes on when its turn comes again. Each
 * time its slice is twice as long, so that large content comes through too.
 */
export function startScheduler(deps: RunDeps, wakes: Wakes): MirrorScheduler {
  return new Scheduler(deps, wakes);
}

class Scheduler implements MirrorScheduler {
  readonly #runDeps: RunDeps;
  readonly #stopping = new AbortController();
  readonly #running: Tasks<Run>;
  /** The slices of repos whose last run did not come to its end, in milliseconds. */
  readonly #slices = createLru<string, number>(MAX_REMEMBERED);
  readonly #worker: Worker;

  constructor(deps: RunDeps, wakes: Wakes) {
    this.#runDeps = deps;
    const { log, config } = deps.deps;
    this.#running = createTasks({ most: config.mirrorWorkers, ended: () => this.#worker.wake() });
    this.#worker = startWorker({
      run: () => this.#startDue(),
      what: "looking for mirrors that are due",
      pollMs: config.workPollMs,
      firstMs: 0,
      stopping: this.#stopping,
      log,
    });
    wakes.on("mirrors", this.#worker.wake);
  }

  async stop(): Promise<void> {
    await this.#worker.stop();
    await this.#running.settled();
  }

  /** Claims and starts runs until none is due or the limit is reached. */
  async #startDue(): Promise<number | void> {
    const { deps } = this.#runDeps;
    for (;;) {
      const waiting = await firstWaiting(deps);
      if (waiting === undefined || this.#stopping.signal.aborted) return;
      if (!this.#running.hasPlace()) {
        this.#freeWorker(waiting);
        return LOOK_AGAIN_MS;
      }
      const claimed = await claimDue(deps, randomUUID());
      if (claimed === undefined) return;
      this.#start(claimed);
    }
  }

  /**
   * Has one run end for a repo that waits: of the organization with the most runs, the one that began first. None when
   * all are within their slice, or their organization has no more runs than that of the repo.
   */
  #freeWorker({ repo }: WaitingMirror): void {
    const nowMs = performance.now();
    const runs = [...this.#running.underWay];
    const paused = runs.find(({ pausedMs }) => pausedMs !== undefined);
    if (paused !== undefined) {
      if (nowMs - (paused.pausedMs ?? nowMs) >= paused.sliceMs) paused.stop.abort();
      return;
    }
    const own = organizationOf(repo);
    const counts = new Map<string, number>();
    for (const { organization } of runs) counts.set(organization, (counts.get(organization) ?? 0) + 1);
    const countOf = (organization: string): number => counts.get(organization) ?? 0;
    const [run] = runs
      .filter(({ beganMs, sliceMs }) => nowMs - beganMs >= sliceMs)
      .filter(({ organization }) => organization === own || countOf(organization) > countOf(own))
      .toSorted((a, b) => countOf(b.organization) - countOf(a.organization) || a.beganMs - b.beganMs);
    if (run === undefined) return;
    run.pausedMs = nowMs;
    run.pause.abort();
  }

  #start(claimed: ClaimedMirror): void {
    const { deps } = this.#runDeps;
    const { repo } = claimed.due;
    const [pause, stop] = [new AbortController(), new AbortController()];
    const sliceMs = this.#slices.get(repo) ?? deps.config.mirrorSliceMs;
    const signal = AbortSignal.any([this.#stopping.signal, stop.signal]);
    const run = {
      organization: organizationOf(repo),
      beganMs: performance.now(),
      sliceMs,
      pausedMs: undefined,
      pause,
      stop,
    };
    const task = runMirror(this.#runDeps, claimed, { pause: pause.signal, stop: signal }).then(
      (isWhole) => {
        if (isWhole) this.#slices.delete(repo);
        else this.#slices.set(repo, Math.min(2 * sliceMs, LONGEST_SLICE_MS));
      },
      (error: unknown) => deps.log.warn({ err: error, repo }, "the end of a mirror run could not be recorded"),
    );
    this.#running.start(run, task);
  }
}

/** The repo that waits for its run first. Reports to the metrics for how long the one that waits longest has. */
async function firstWaiting(deps: MirrorDeps): Promise<WaitingMirror | undefined> {
  const nowMs = deps.clock.agreedMs();
  const { next, oldest } = await deps.transactor.read(mirrorCall(deps), async (call) => ({
    next: await nextDue(call),
    oldest: await call.tx
      .selectFrom("mirrors")
      .select("next_time")
      .where("next_time", "<=", nowMs)
      .where("hold_until", "<=", nowMs)
      .orderBy("next_time")
      .limit(1)
      .executeTakeFirst(),
  }));
  deps.metrics.late(oldest === undefined ? 0 : nowMs - oldest.next_time);
  return next;
}
