/** Tasks under way in this process, a limited number of them. */
export interface Tasks<T = undefined> {
  /** What is under way, as it was given to `start`. */
  readonly underWay: ReadonlySet<T>;
  /** Whether another one may be started. */
  hasPlace(): boolean;
  /** Begins a task, which must not reject. */
  start(about: T, task: Promise<unknown>): void;
  /** Resolves when all that is under way has ended. */
  settled(): Promise<void>;
}

/** `ended` is called when a place is free again. */
export function createTasks<T>({ most, ended }: { most: number; ended(): void }): Tasks<T> {
  const running = new Map<Promise<unknown>, T>();
  const underWay = new Set<T>();
  return {
    underWay,
    hasPlace: () => running.size < most,
    start(about, task) {
      const whole = task.finally(() => {
        running.delete(whole);
        underWay.delete(about);
        ended();
      });
      running.set(whole, about);
      underWay.add(about);
    },
    settled: async () => void (await Promise.allSettled(running.keys())),
  };
}
