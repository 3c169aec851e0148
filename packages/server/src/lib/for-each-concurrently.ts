/**
 * Does the work for every item, at most `limit` at once. After a failure no more are begun, and it is thrown once those
 * under way have ended.
 */
export async function forEachConcurrently<T>(
  items: AsyncIterable<T> | Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const failures: unknown[] = [];
  // One after the other: not every iterator answers several at once.
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
