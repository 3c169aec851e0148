// Items in blocks, so that what is shown of them is looked up together.

/**
 * The items in blocks of at most `most`. A block ends too when the next item is not there yet, so that a page of a list
 * is shown before the next one is asked for, and an item of a stream when it comes.
 */
export async function* blocksOf<T>(items: AsyncIterable<T>, most: number): AsyncGenerator<T[], void> {
  const iterator = items[Symbol.asyncIterator]();
  let finished = false;
  try {
    let block: T[] = [];
    let next = settled(iterator.next());
    for (;;) {
      const result = await (block.length === 0 ? next : Promise.race([next, turn()]));
      if (result === undefined) {
        yield block;
        block = [];
        continue;
      }
      finished = "error" in result || result.done === true;
      if ("error" in result || result.done) {
        if (block.length > 0) yield block;
        if ("error" in result) throw result.error;
        return;
      }
      block.push(result.value);
      if (block.length >= most) {
        yield block;
        block = [];
      }
      next = settled(iterator.next());
    }
  } finally {
    if (!finished) await iterator.return?.();
  }
}

/** A failure as a value: it may come while nobody waits for it. */
function settled<T>(next: Promise<IteratorResult<T>>): Promise<IteratorResult<T> | { error: unknown }> {
  return next.catch((error: unknown) => ({ error }));
}

/** One turn of the event loop: what is at hand has come by then. */
function turn(): Promise<undefined> {
  return new Promise((resolve) => {
    setImmediate(resolve, undefined);
  });
}
