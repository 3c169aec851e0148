import { TransientError, unavailable } from "./failures.ts";

/** Lets as many transactions through at once as do not collide too often. */
export interface Gate {
  /** Does the work when it is its turn; one that is done `again` goes before those that come for the first time. UNAVAILABLE when its turn does not come in time. */
  run<T>(work: () => Promise<T>, again: boolean): Promise<T>;
  /** How many may be under way now. */
  readonly width: number;
}

interface Waiting { enter(): void }

// So many in a row must go well for one more to be let in at once.
const WIDEN_AFTER = 8;

/**
 * A gate for at most `most` at once. Each round of collisions halves the width, down to one at a time: many that write the same would undo each
 * other's work without end, and one after the other each is through at the first try. While nobody collides it widens again, step by step.
 */
export function createGate(most: number, longestWaitMs: number): Gate {
  const waiting = new Set<Waiting>();
  const first = new Set<Waiting>();
  let width = most;
  let underWay = 0;
  let rounds = 0;
  let gone = 0;

  const admit = (): void => {
    for (const queue of [first, waiting]) {
      for (const next of queue) {
        if (underWay >= width) return;
        queue.delete(next);
        underWay += 1;
        next.enter();
      }
    }
  };
  const turn = (queue: Set<Waiting>): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const self: Waiting = { enter: () => { clearTimeout(timer); resolve(); } };
    const timer = setTimeout(() => {
      queue.delete(self);
      reject(unavailable("the database is too busy", undefined));
    }, longestWaitMs);
    queue.add(self);
    return promise;
  };
  return {
    async run(work, again) {
      if (underWay < width && first.size + waiting.size === 0) underWay += 1;
      else await turn(again ? first : waiting);
      const round = rounds;
      try {
        const value = await work();
        gone += 1;
        if (width < most && gone >= WIDEN_AFTER * width) {
          width += 1;
          gone = 0;
        }
        return value;
      } catch (error) {
        // Those who collided with each other count once.
        if (error instanceof TransientError && error.kind === "collision" && round === rounds) {
          width = Math.max(1, width >> 1);
          rounds += 1;
          gone = 0;
        }
        throw error;
      } finally {
        underWay -= 1;
        admit();
      }
    },
    get width() { return width; },
  };
}
