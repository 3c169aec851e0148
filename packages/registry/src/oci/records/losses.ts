export interface LossesDeps {
  log: { error(fields: object, message: string): void };
  /** Counts pulls that will have no event. */
  dropped(count: number): void;
}

/** Pulls that were dropped: each is counted, and they are logged together, at most once a minute. */
export interface Losses {
  add(count: number, error?: unknown): void;
  /** Logs the number dropped since the last report, unless that was less than `everyMs` ago. */
  report(everyMs?: number): void;
}

const LOG_EVERY_MS = 60_000;

export function createLosses({ log, dropped }: LossesDeps): Losses {
  let lost = 0;
  let lastError: unknown;
  let loggedMs = -Infinity;
  const report = (everyMs = LOG_EVERY_MS): void => {
    const nowMs = performance.now();
    if (lost === 0 || nowMs - loggedMs < everyMs) return;
    log.error(
      { count: lost, ...(lastError !== undefined && { err: lastError }) },
      "pulls were dropped without an event",
    );
    [lost, loggedMs, lastError] = [0, nowMs, undefined];
  };
  return {
    report,
    add(count, error) {
      dropped(count);
      lost += count;
      lastError ??= error;
      report();
    },
  };
}
