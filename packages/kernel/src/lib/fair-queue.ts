/** Lets requests begin in turn: between keys by round robin, and by age within one. */
export interface FairQueue {
  /**
   * Undefined when the request may begin, otherwise a promise that resolves when it may; `end` must be called later for
   * either. The promise rejects with the error that `reject` makes, and `end` must not be called then. `isGone`:
   * whether nobody waits for the answer any more.
   */
  begin(key: string, isGone?: () => boolean): Promise<void> | undefined;
  end(): void;
  /** How many wait. */
  waiting(): number;
}

/** Why a request may not begin. */
export type QueueProblem = "full" | "late" | "gone";

export interface FairQueueOptions {
  /** How many may be under way. */
  concurrency: number;
  /** How many may wait. One more has the newest of the key with most waiting rejected. */
  maxWaiting: number;
  /** How long one may wait. */
  timeoutMs: number;
  reject(problem: QueueProblem): Error;
}

interface Waiter {
  begin(): void;
  reject(problem: QueueProblem): void;
  isGone: () => boolean;
  timer?: NodeJS.Timeout;
  isOver: boolean;
}

/** Those that wait under one key, oldest first: from `head` on. `count`: those of them that are not over. */
interface Line {
  waiters: Waiter[];
  head: number;
  count: number;
}

// What is begun in one go before the process does other work, such as taking requests that came in the meantime.
const TURN_MS = 10;

/** A queue without anybody under way. */
export function createFairQueue({ concurrency, maxWaiting, timeoutMs, reject }: FairQueueOptions): FairQueue {
  // The first one is next.
  const lines = new Map<string, Line>();
  let running = 0;
  let waiting = 0;
  let turnBeganMs = 0;
  let ticking = false;

  /** Work may be done without waiting for anything: then many under way in a row are as many at the same time. */
  const isTurnOver = (): boolean => {
    const nowMs = performance.now();
    if (!ticking) {
      ticking = true;
      turnBeganMs = nowMs;
      setImmediate(tick);
    }
    return nowMs - turnBeganMs >= TURN_MS;
  };
  const tick = (): void => {
    ticking = false;
    beginWaiting();
  };
  const beginWaiting = (): void => {
    while (waiting > 0 && running < concurrency && !isTurnOver()) {
      const waiter = next();
      if (waiter.isGone()) leave(waiter, () => waiter.reject("gone"));
      else
        leave(waiter, () => {
          running += 1;
          waiter.begin();
        });
    }
  };
  /** The oldest of the first line, which goes to the end. There must be one. */
  const next = (): Waiter => {
    for (const [key, line] of lines) {
      lines.delete(key);
      let waiter = line.waiters[line.head++];
      while (waiter?.isOver === true) waiter = line.waiters[line.head++];
      if (waiter === undefined) continue;
      line.count -= 1;
      if (line.count > 0) lines.set(key, compacted(line));
      return waiter;
    }
    throw new Error("nobody waits");
  };
  const leave = (waiter: Waiter, settle: () => void): void => {
    clearTimeout(waiter.timer);
    waiter.isOver = true;
    waiting -= 1;
    settle();
  };
  /** Rejects the newest of the longest line. */
  const rejectOne = (): void => {
    let longest: [string, Line] | undefined;
    for (const each of lines) if (longest === undefined || each[1].count > longest[1].count) longest = each;
    if (longest === undefined) return;
    const [key, line] = longest;
    let waiter = line.waiters.pop();
    while (waiter?.isOver === true) waiter = line.waiters.pop();
    if (waiter === undefined) return;
    const rejected = waiter;
    line.count -= 1;
    if (line.count === 0) lines.delete(key);
    leave(rejected, () => rejected.reject("full"));
  };
  const wait = (key: string, isGone: () => boolean): Promise<void> => {
    const line = lines.get(key) ?? { waiters: [], head: 0, count: 0 };
    lines.set(key, line);
    const waited = new Promise<void>((resolve, fail) => {
      const waiter: Waiter = { begin: resolve, reject: (problem) => fail(reject(problem)), isGone, isOver: false };
      waiter.timer = setTimeout(() => {
        line.count -= 1;
        if (line.count === 0 && lines.get(key) === line) lines.delete(key);
        leave(waiter, () => waiter.reject("late"));
        // All wait equally long: those before it are over as well.
        while (line.waiters[line.head]?.isOver === true) line.head += 1;
        compacted(line);
      }, timeoutMs).unref();
      line.waiters.push(waiter);
    });
    line.count += 1;
    waiting += 1;
    if (waiting > maxWaiting) rejectOne();
    return waited;
  };
  return {
    begin(key, isGone = () => false) {
      if (waiting > 0 || running >= concurrency || isTurnOver()) return wait(key, isGone);
      running += 1;
      return undefined;
    },
    end() {
      running -= 1;
      beginWaiting();
    },
    waiting: () => waiting,
  };
}

const MAX_GONE = 1_000;

/** The line without those that have left it, once they are many. */
function compacted(line: Line): Line {
  if (line.head >= MAX_GONE) {
    line.waiters.splice(0, line.head);
    line.head = 0;
  }
  return line;
}
