/** Too many bytes were under way for too long. */
export class ByteBudgetError extends Error {}

/** How many bytes may be in memory, or in work, at a time. */
export interface ByteBudget {
  /**
   * Takes bytes from the budget, in the order of the calls. More than the whole budget counts as all of it. Throws a
   * ByteBudgetError when that takes longer than `timeoutMs`, or when too many wait. The lease must be released.
   */
  take(bytes: number): Promise<ByteLease>;
}

/** Bytes that were taken from a budget. */
export interface ByteLease {
  /** Takes more, so that the lease has so many bytes in all. Throws as `take` does. */
  grow(bytes: number): Promise<void>;
  /** Gives all of them back. Calling it again does nothing. */
  release(): void;
}

export interface ByteBudgetOptions {
  bytes: number;
  /** How long a call waits for others to release theirs. */
  timeoutMs: number;
  /** How many calls may wait. */
  maxWaiting: number;
}

interface Waiting {
  bytes: number;
  begin(): void;
}

/** Makes a budget: a semaphore whose permits are bytes. */
export function createByteBudget({ bytes: all, timeoutMs, maxWaiting }: ByteBudgetOptions): ByteBudget {
  let left = all;
  const waiting = new Set<Waiting>();
  const admit = (): void => {
    for (const next of waiting) {
      if (next.bytes > left) return;
      waiting.delete(next);
      left -= next.bytes;
      next.begin();
    }
  };
  const acquire = async (bytes: number): Promise<void> => {
    if (waiting.size === 0 && bytes <= left) {
      left -= bytes;
      return;
    }
    if (waiting.size >= maxWaiting) throw new ByteBudgetError("too many large documents wait");
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(entry);
        reject(new ByteBudgetError("too many large documents are under way"));
        admit();
      }, timeoutMs);
      const entry = {
        bytes,
        begin: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      waiting.add(entry);
    });
  };
  return {
    async take(bytes) {
      let held = Math.min(bytes, all);
      await acquire(held);
      return {
        async grow(wanted) {
          const more = Math.min(wanted, all) - held;
          if (more <= 0) return;
          await acquire(more);
          held += more;
        },
        release() {
          left += held;
          held = 0;
          admit();
        },
      };
    },
  };
}
