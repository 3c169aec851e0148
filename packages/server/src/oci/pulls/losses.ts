export interface LossesDeps {
  log: { error(fields: object, message: string): void };
  /** Counts pulls that no event will tell of. */
  dropped(count: number): void;
}

/** Pulls that were dropped: counted each time, and logged now and then together. */
export interface Losses {
  add(count: number, error?: unknown): void;
  /** Logs what was dropped since the last time, unless that is less than so long ago. */
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
      "pulls were dropped that no event tells of",
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
