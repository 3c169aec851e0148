/** Bounds the attempts that a process has under way, for all subscriptions together. */
export interface AttemptLimit {
  /** Whether one more may begin. `isOnly`: its subscription has no other, and may always have one. */
  take(isOnly: boolean): boolean;
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
