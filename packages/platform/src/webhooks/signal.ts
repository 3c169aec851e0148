/** Lets a loop sleep until other code wakes it. */
export interface Signal {
  /** Ends the current wait, or the next one when there is none. */
  notify(): void;
  /** Waits for `notify`, at most `longestMs` milliseconds. */
  wait(longestMs: number): Promise<void>;
}

export function createSignal(): Signal {
  let notified = Promise.withResolvers<void>();
  return {
    notify: () => notified.resolve(),
    async wait(longestMs) {
      const timer = setTimeout(() => notified.resolve(), longestMs);
      await notified.promise;
      clearTimeout(timer);
      notified = Promise.withResolvers<void>();
    },
  };
}
