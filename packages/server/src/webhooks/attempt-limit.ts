/** How many tries a process has under way, for all subscriptions together. */
export interface Tries {
  /** Whether one more may begin. `isOnly`: its subscription has no other, and may always have one. */
  take(isOnly: boolean): boolean;
  end(): void;
}

export function createTries(most: number): Tries {
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
