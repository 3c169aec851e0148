const TURN_MS = 10;

/** Gives other work of the process a chance; see createTurns. */
export type Turn = () => Promise<void> | undefined;

/** Loops whose turn is over, in the order in which they go on. */
const waiting: (() => void)[] = [];

// One loop goes on each time the process has looked at its sockets: several long loops take as long as one at a time.
function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}

async function myTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(resolve);
  if (waiting.length === 1) setImmediate(goOn);
  await promise;
}

/**
 * Divides a long loop into turns of 10 ms, between which the process does other work. Call it after each step of the
 * loop, and wait for what it returns. Whether a turn is over is measured, since the steps of one loop may take a
 * microsecond or ten milliseconds. However many loops run at a time, other work waits for a turn of one of them.
 */
export function createTurns(): Turn {
  let beganMs = performance.now();
  return () => {
    if (performance.now() - beganMs < TURN_MS) return undefined;
    return myTurn().then(() => {
      beganMs = performance.now();
    });
  };
}

/**
 * The items in their order, as `toSorted` would answer them, sorted in turns. An item that is compared as equal stays
 * behind those that came before it.
 */
export async function sortInTurns<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  turn: Turn | undefined,
): Promise<T[]> {
  if (turn === undefined || items.length <= SORTED_AT_ONCE) return items.toSorted(compare);
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += SORTED_AT_ONCE) {
    runs.push(items.slice(at, at + SORTED_AT_ONCE).sort(compare));
    await turn();
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      longer.push(await mergeInTurns(runs[at] ?? [], runs[at + 1] ?? [], compare, turn));
    runs = longer;
  }
  return runs[0] ?? [];
}

const SORTED_AT_ONCE = 2_000;

async function mergeInTurns<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
  turn: Turn,
): Promise<T[]> {
  const merged: T[] = [];
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const isLeft = r >= right.length || (l < left.length && compare(left[l] as T, right[r] as T) <= 0);
    merged.push((isLeft ? left[l++] : right[r++]) as T);
    if (merged.length % SORTED_AT_ONCE === 0) await turn();
  }
  return merged;
}
