/** Does background work in this process, one run at a time. */
export interface Worker {
  /**
   * There may be something to do: a run begins soon, and once more after one that is under way. However often it is
   * called before that run, there is one.
   */
  wake(): void;
  /** Begins no more runs, and waits for the one under way. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  /**
   * Does all that there is to do, or looks that there is nothing. Never called twice at a time. May answer in how many
   * milliseconds to look again, where that is sooner than at the next poll.
   */
  run(): Promise<number | void>;
  /** What fails, for the log: "looking for scans that are due". */
  what: string;
  /**
   * How often it looks without being woken: for what other processes wrote, what is due at a time, and what a crash
   * left.
   */
  pollMs: number;
  /** Aborted when it is stopped, so that the run ends early. */
  stopping: AbortController;
  log: { warn(fields: object, message: string): void };
  /** When it looks first, after it was started. Defaults to a second, or to the poll when that is sooner. */
  firstMs?: number;
  /** Whether it may not run at present; it then looks again at the next poll. Defaults to no. */
  isPaused?(): boolean;
}

// The shortest time between the end of a run and the next one that is woken. While wake-ups keep coming it doubles, up
// to the longest: each run then has more to do, and a run costs statements even when there is little.
const SHORTEST_REST_MS = 20;
const LONGEST_REST_MS = 500;
// The rest after a failure, whatever wakes it meanwhile.
const REST_AFTER_FAILURE_MS = 1_000;
const FIRST_LOOK_MS = 1_000;

/** Starts a worker: it runs when it is woken, and at every poll. */
export function startWorker({
  run,
  what,
  pollMs,
  firstMs = Math.min(pollMs, FIRST_LOOK_MS),
  stopping,
  log,
  isPaused = () => false,
}: WorkerOptions): Worker {
  let timer: NodeJS.Timeout | undefined;
  let dueMs = Infinity;
  let running: Promise<void> | undefined;
  let isWoken = false;
  let restMs = SHORTEST_REST_MS;
  let endedMs = -Infinity;
  let failedUntilMs = -Infinity;
  // When a run said to look again. Runs that are woken before do not see what is due then.
  let againMs = Infinity;
  const schedule = (atMs: number): void => {
    if (stopping.signal.aborted) return;
    clearTimeout(timer);
    dueMs = atMs;
    timer = setTimeout(begin, Math.max(0, atMs - performance.now())).unref();
  };
  const begin = (): void => {
    dueMs = Infinity;
    isWoken = false;
    if (performance.now() >= againMs) againMs = Infinity;
    running = runOnce().then((inMs) => {
      running = undefined;
      endedMs = performance.now();
      againMs = Math.min(againMs, endedMs + inMs);
      const nextMs = Math.min(endedMs + pollMs, againMs);
      schedule(isWoken ? Math.min(nextMs, Math.max(endedMs + longer(), failedUntilMs)) : nextMs);
    });
  };
  /** Answers in how many milliseconds to look again. */
  const runOnce = async (): Promise<number> => {
    // Then a wake-up by the run itself comes while it is under way.
    await Promise.resolve();
    if (isPaused()) return Infinity;
    try {
      return (await run()) ?? Infinity;
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ err: error }, `${what} failed`);
      failedUntilMs = performance.now() + REST_AFTER_FAILURE_MS;
      return REST_AFTER_FAILURE_MS;
    }
  };
  const longer = (): number => (restMs = Math.min(2 * restMs, LONGEST_REST_MS));
  schedule(performance.now() + firstMs);
  return {
    wake() {
      if (isWoken || stopping.signal.aborted) return;
      isWoken = true;
      if (running !== undefined) return;
      const nowMs = performance.now();
      // It was quiet.
      if (nowMs > endedMs + restMs) restMs = SHORTEST_REST_MS;
      else longer();
      const atMs = Math.max(endedMs + restMs, nowMs, failedUntilMs);
      if (atMs < dueMs) schedule(atMs);
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
