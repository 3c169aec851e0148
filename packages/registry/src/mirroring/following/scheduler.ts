import { randomUUID } from "node:crypto";
import { createTasks, startWorker, type Tasks, type Wakes, type Worker } from "@moorage/kernel/work";
import { nextFollow } from "../../upstreams/index.ts";
import { mirrorCall } from "../context.ts";
import { claimDueFollow, type ClaimedFollow, followClaimed } from "./run.ts";
import type { FollowDeps } from "./turn.ts";

/** Follows registries, in one process. */
export interface FollowScheduler {
  /** Interrupts the turns under way and waits until they have ended. */
  stop(): Promise<void>;
}

/** A turn under way. */
interface Following {
  beganMs: number;
  pause: AbortController;
}

// How often it looks whether a turn has had its slice, while another one waits.
const LOOK_AGAIN_MS = 1_000;
/** A turn has so many slices of a mirror before it makes way for another one. */
const SLICES = 4;

/**
 * Starts to follow the registries that are due. Processes share the work: each registry is looked through by one at a
 * time. When one waits and no worker is free, the turn that began first ends after its tags, and goes on later.
 */
export function startFollowing(context: FollowDeps, wakes: Wakes): FollowScheduler {
  return new Scheduler(context, wakes);
}

class Scheduler implements FollowScheduler {
  readonly #context: FollowDeps;
  readonly #stopping = new AbortController();
  readonly #running: Tasks<Following>;
  readonly #worker: Worker;

  constructor(context: FollowDeps, wakes: Wakes) {
    this.#context = context;
    const { log, config } = context.deps;
    this.#running = createTasks({ most: config.mirrorWorkers, ended: () => this.#worker.wake() });
    this.#worker = startWorker({
      run: () => this.#startDue(),
      what: "looking for registries to follow",
      pollMs: config.workPollMs,
      stopping: this.#stopping,
      log,
    });
    wakes.on("mirrors", this.#worker.wake);
  }

  async stop(): Promise<void> {
    await this.#worker.stop();
    await this.#running.settled();
  }

  /** Claims and starts turns until none is due or the limit is reached. */
  async #startDue(): Promise<number | void> {
    const { deps } = this.#context;
    for (;;) {
      const { waiting } = await deps.transactor.read(mirrorCall(deps), async (call) => ({
        waiting: await nextFollow(call),
      }));
      if (waiting === undefined || this.#stopping.signal.aborted) return;
      if (!this.#running.hasPlace()) {
        this.#pauseFirst();
        return LOOK_AGAIN_MS;
      }
      const claimed = await claimDueFollow(deps, randomUUID());
      if (claimed === undefined) return;
      this.#start(claimed);
    }
  }

  #pauseFirst(): void {
    const [first] = [...this.#running.underWay].toSorted((one, other) => one.beganMs - other.beganMs);
    const sliceMs = SLICES * this.#context.deps.config.mirrorSliceMs;
    if (first !== undefined && performance.now() - first.beganMs >= sliceMs) first.pause.abort();
  }

  #start(claimed: ClaimedFollow): void {
    const { deps } = this.#context;
    const about = { beganMs: performance.now(), pause: new AbortController() };
    const ends = { pause: about.pause.signal, stop: this.#stopping.signal };
    const task = followClaimed(this.#context, claimed, ends).catch((error: unknown) =>
      deps.log.warn({ err: error, upstream: claimed.held.upstream }, "the end of a turn could not be recorded"),
    );
    this.#running.start(about, task);
  }
}
