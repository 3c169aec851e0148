const TURN_MS = 10;

/** Loops of which a turn is over, in the order in which they go on. */
const waiting: (() => void)[] = [];

/**
 * Divides a long loop into turns of 10 ms, between which the process does other work. Call it after each step of the
 * loop, and wait for what it returns. Whether a turn is over is measured, since the steps of one loop may take a
 * microsecond or ten milliseconds. Of several loops at a time one has a turn, then the process does other work, then the
 * next one: however many there are, others wait no longer.
 */
export function createTurns(): () => Promise<void> | undefined {
  let beganMs = performance.now();
  return () => {
    if (performance.now() - beganMs < TURN_MS) return undefined;
    return nextTurn().then(() => {
      beganMs = performance.now();
    });
  };
}

function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (waiting.push(resolve) === 1) setImmediate(giveTurn);
  return promise;
}

/** Node calls what is set here only after it has looked for input and timers again. */
function giveTurn(): void {
  waiting[0]?.();
  waiting.shift();
  if (waiting.length > 0) setImmediate(giveTurn);
}
