/** A semaphore for each key; those that nothing runs under are dropped. */
export function createSemaphores(limit: number): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const semaphores = new Map<string, { run: ReturnType<typeof createSemaphore>; users: number }>();
  return async (key, work) => {
    const semaphore = semaphores.get(key) ?? { run: createSemaphore(limit), users: 0 };
    semaphores.set(key, semaphore);
    semaphore.users += 1;
    try {
      return await semaphore.run(work);
    } finally {
      semaphore.users -= 1;
      if (semaphore.users === 0) semaphores.delete(key);
    }
  };
}

/** A semaphore: runs at most so many of its tasks concurrently; the others wait in order. */
export function createSemaphore(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < limit) running += 1;
    else await new Promise<void>((begin) => void waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
