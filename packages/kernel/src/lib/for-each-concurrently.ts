/**
 * Runs `work` for every item, for at most `limit` items concurrently. After a failure no further items are started; the
 * first error is thrown when the items in progress have ended.
 */
export async function forEachConcurrently<T>(
  items: AsyncIterable<T> | Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const failures: unknown[] = [];
  // `next` is called for one item after another: not every iterator supports concurrent calls.
  let last: Promise<unknown> = Promise.resolve();
  const next = (): Promise<IteratorResult<T>> => {
    const taken = last.then(() => source.next());
    last = taken.catch(() => {});
    return taken;
  };
  const taker = async (): Promise<void> => {
    while (failures.length === 0) {
      const { done, value } = await next();
      if (done === true) return;
      await work(value as T);
    }
  };
  await Promise.all(Array.from({ length: limit }, () => taker().catch((error: unknown) => void failures.push(error))));
  await source.return?.();
  if (failures.length > 0) throw failures[0];
}
