/** A loop sleeps on it, and others wake the loop. */
export interface Signal {
  /** Ends the wait under way; when there is none, the next one. */
  notify(): void;
  /** Waits for `notify`, and no longer than `longestMs` milliseconds. */
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
