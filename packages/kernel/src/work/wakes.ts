import type { Work } from "../core/work.ts";

/** Passes the wake-ups of committed transactions on to the workers of this process. */
export interface Wakes {
  /** Has `wake` called whenever there may be something to do for the work. */
  on(work: Work, wake: () => void): void;
  /** Wakes the workers of these; does nothing for work that this process does not do. */
  wake(works: Iterable<Work>): void;
}

export function createWakes(): Wakes {
  const workers = new Map<Work, (() => void)[]>();
  return {
    on: (work, wake) => void workers.set(work, [...(workers.get(work) ?? []), wake]),
    wake(works) {
      for (const work of works) for (const wake of workers.get(work) ?? []) wake();
    },
  };
}
