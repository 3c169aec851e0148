/** How many works are under way at once: all of them, or one. */
export interface Lane {
  /**
   * Does the work beside the others. When it collides with them, it is done again by itself, in the order in which they came; and so are all that
   * come meanwhile, until nobody is left in the row. `collided` tells such failures from others. `again` does the work under those conditions.
   */
  run<T>(work: () => Promise<T>, again: () => Promise<T>, collided: (error: unknown) => boolean): Promise<T>;
}

/** Many that write the same would collide without end if all tried again at once; in a row, the first one is through at the first try. */
export function createLane(): Lane {
  let row = 0;
  let last: Promise<unknown> = Promise.resolve();
  const inRow = <T>(again: () => Promise<T>): Promise<T> => {
    row += 1;
    const done = last.then(again).finally(() => { row -= 1; });
    last = done.catch(() => {});
    return done;
  };
  return {
    async run(work, again, collided) {
      if (row > 0) return inRow(again);
      try {
        return await work();
      } catch (error) {
        if (!collided(error)) throw error;
        return inRow(again);
      }
    },
  };
}
