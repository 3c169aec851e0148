import { TransientError, unavailable } from "./failures.ts";

/** Limits the number of concurrent transactions by how often they collide. */
export interface Gate {
  /**
   * Runs the work when there is a place for it. A retry (`again`) goes before first attempts. Work that is `apart`
   * never collides: it does not wait behind work that may, and up to half of the places are for such work. Throws
   * UNAVAILABLE when no place is free in time.
   */
  run<T>(work: () => Promise<T>, again: boolean, apart?: boolean): Promise<T>;
  /** How many transactions that may collide may run concurrently now. */
  readonly width: number;
}

interface Waiting {
  enter(): void;
}

// Collisions are counted over this many transactions. A few collisions cost less than running one after another does,
// since concurrent commits share the waiting for the disk.
const WINDOW = 16;
const TOO_MANY = 4;
const CALM_WINDOWS = 2;

/**
 * A gate for at most `most` concurrent transactions. When a quarter of them collide, the width is halved, down to one
 * at a time: many transactions that write the same rows would make each other fail endlessly, while one after the other
 * each succeeds at the first attempt. While hardly any collide, the width grows again step by step.
 */
export function createGate(most: number, longestWaitMs: number): Gate {
  const waiting = new Set<Waiting>();
  const first = new Set<Waiting>();
  const standsApart = new Set<Waiting>();
  const mostApart = Math.max(1, most >> 1);
  let width = most;
  let underWay = 0;
  let underWayApart = 0;
  let ended = 0;
  let collided = 0;
  let calm = 0;

  const hasCapacity = (apart: boolean): boolean =>
    underWay < most && (apart ? underWayApart < mostApart : underWay - underWayApart < width);
  const count = (apart: boolean, by: 1 | -1): void => {
    underWay += by;
    if (apart) underWayApart += by;
  };
  const admit = (): void => {
    for (const queue of [standsApart, first, waiting]) {
      const apart = queue === standsApart;
      for (const next of queue) {
        if (!hasCapacity(apart)) break;
        queue.delete(next);
        count(apart, 1);
        next.enter();
      }
    }
  };
  const note = (collision: boolean): void => {
    ended += 1;
    if (collision) collided += 1;
    if (collided < TOO_MANY && ended < WINDOW) return;
    if (collided >= TOO_MANY) width = Math.max(1, width >> 1);
    calm = collided > 1 ? 0 : calm + 1;
    if (calm >= CALM_WINDOWS) {
      width = Math.min(most, width + 1);
      calm = 0;
    }
    ended = 0;
    collided = 0;
  };
  const waitIn = (queue: Set<Waiting>): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const self: Waiting = {
      enter: () => {
        clearTimeout(timer);
        resolve();
      },
    };
    const timer = setTimeout(() => {
      queue.delete(self);
      reject(unavailable("the database is too busy", undefined));
    }, longestWaitMs);
    queue.add(self);
    return promise;
  };
  return {
    async run(work, again, apart = false) {
      if (hasCapacity(apart) && (apart ? standsApart.size : first.size + waiting.size) === 0) count(apart, 1);
      else await waitIn(apart ? standsApart : again ? first : waiting);
      try {
        const value = await work();
        if (!apart) note(false);
        return value;
      } catch (error) {
        if (!apart) note(error instanceof TransientError && error.kind !== "connection");
        throw error;
      } finally {
        count(apart, -1);
        admit();
      }
    },
    get width() {
      return width;
    },
  };
}
