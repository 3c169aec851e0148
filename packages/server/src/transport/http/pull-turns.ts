import type { Turn } from "@moorage/kernel/core/http";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { createFairQueue, type FairQueue, type QueueProblem } from "@moorage/kernel/lib/fair-queue";

/**
 * The queue of pulls. They are not limited by count: a cluster that starts has all its nodes pull together. Under load
 * they wait, and organizations take turns, so that none waits for all the pulls of another.
 */
export interface PullTurns {
  /** The turn of one request; `handler` is a label of the metric of rejections. */
  of(handler: string, hasLeft: () => boolean): Turn;
  /** How many requests wait. */
  waiting(): number;
}

export interface PullTurnsOptions {
  /** Called for each request that is rejected because too many wait, or it waited too long. */
  rejected(handler: string): void;
  /** How many pulls may be under way, those left out that only wait for a source or send content. Defaults to 64. */
  concurrency?: number;
}

// More than the connections to the database, and enough to keep S3 busy.
const CONCURRENCY = 64;
// As many as connections. Each holds a request, some 10 KB.
const MAX_WAITING = 10_000;
// Shorter than clients wait.
const TIMEOUT_MS = 20_000;
const RETRY_AFTER_MS = 2_000;

/** Creates the queue of this process; each process and replica has its own. */
export function createPullTurns({ rejected, concurrency = CONCURRENCY }: PullTurnsOptions): PullTurns {
  const options = { concurrency, maxWaiting: MAX_WAITING, timeoutMs: TIMEOUT_MS, reject: rejectionOf };
  // By handler: the token endpoint knows an organization by its name, the others by the uid that their callers have.
  const queues = new Map<string, FairQueue>();
  const queueOf = (handler: string): FairQueue => {
    const known = queues.get(handler) ?? createFairQueue(options);
    queues.set(handler, known);
    return known;
  };
  return {
    waiting: () => [...queues.values()].reduce((sum, queue) => sum + queue.waiting(), 0),
    of(handler, hasLeft) {
      const queue = queueOf(handler);
      let state: "before" | "begun" | "ended" = "before";
      return {
        begin(organization) {
          if (state !== "before") return undefined;
          state = "begun";
          return queue.begin(organization, hasLeft)?.catch((error: unknown) => {
            state = "ended";
            if (!hasLeft()) rejected(handler);
            throw error;
          });
        },
        end() {
          if (state === "begun") queue.end();
          state = "ended";
        },
      };
    },
  };
}

function rejectionOf(problem: QueueProblem): MoorageError {
  const why = problem === "full" ? "too many pulls wait" : "the pull waited too long";
  return new MoorageError(Code.Unavailable, `Unavailable: ${why}; the server is overloaded`, {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
