/**
 * Runs work on something that this process holds for `holdMs` at a time, and renews the hold meanwhile. The signal is
 * aborted when another process has taken it. A renewal that fails is logged, and tried again.
 */
export async function whileHeld<T>(
  {
    renew,
    holdMs,
    log,
    what,
  }: {
    renew(): Promise<{ held: boolean }>;
    holdMs: number;
    log: { warn(fields: object, message: string): void };
    what: string;
  },
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const timer = setInterval(() => {
    renew().then(
      ({ held }) => !held && lost.abort(),
      (error: unknown) => log.warn({ err: error }, `renewing the hold of ${what} failed`),
    );
  }, holdMs / 3).unref();
  try {
    return await work(lost.signal);
  } finally {
    clearInterval(timer);
  }
}
