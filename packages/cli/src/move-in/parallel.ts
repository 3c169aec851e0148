// How many requests are under way at a time.
const CONCURRENCY = 6;

/** The results of the work for each item, in their order, a few at a time. */
export async function* inParallel<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<R>,
  concurrency = CONCURRENCY,
): AsyncGenerator<R> {
  const waiting: Promise<R>[] = [];
  try {
    for await (const item of items) {
      waiting.push(work(item));
      // What fails is thrown when its turn comes.
      waiting.at(-1)?.catch(() => {});
      const first = waiting.length >= concurrency ? waiting.shift() : undefined;
      if (first !== undefined) yield await first;
    }
    while (waiting.length > 0) {
      const first = waiting.shift();
      if (first !== undefined) yield await first;
    }
  } finally {
    await Promise.allSettled(waiting);
  }
}
