/** Bounds the concurrent attempts of a process, over all subscriptions. */
export interface AttemptLimit {
  /**
   * Reserves an attempt; false when the limit is reached. `isOnly`: the subscription has no other attempt under way,
   * and is always allowed one.
   */
  take(isOnly: boolean): boolean;
  /** Releases an attempt that was reserved. */
  end(): void;
}

export function createAttemptLimit(most: number): AttemptLimit {
  let underWay = 0;
  return {
    take(isOnly) {
      if (!isOnly && underWay >= most) return false;
      underWay += 1;
      return true;
    },
    end: () => void (underWay -= 1),
  };
}
