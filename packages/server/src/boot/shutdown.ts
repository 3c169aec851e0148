/**
 * The order in which a server shuts down. What writes by itself ends first; then the server says that it is not ready,
 * and requests under way drain while deliveries under way are recorded; then what they noted is written; and what all
 * of them need goes last.
 */
const ORDER = [
  "jobs",
  "mirroring",
  "readiness",
  "requests",
  "auditor",
  "pull recorder",
  "pull publisher",
  "writer",
  "store",
  "data folder",
  "observation",
] as const;

type Stage = (typeof ORDER)[number];

/** Closes what is open, in one order, whether a server ends or does not come up. */
export interface Shutdown extends AsyncDisposable {
  /** Closes this at its stage. What belongs to one stage closes together. */
  at(stage: Stage, close: () => void | Promise<void>): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Disposed of twice, it waits for the same end. Everything is closed, even when something before it fails to; disposing
 * rejects then.
 */
export function createShutdown(): Shutdown {
  const closers = new Map<Stage, (() => void | Promise<void>)[]>();
  const close = async (): Promise<void> => {
    // A stack closes what came last first.
    await using stack = new AsyncDisposableStack();
    for (const stage of ORDER.toReversed())
      stack.defer(async () => {
        const ended = await Promise.allSettled((closers.get(stage) ?? []).map(async (each) => await each()));
        const errors = ended.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
        if (errors.length > 0) throw new AggregateError(errors, `closing failed: ${stage}`);
      });
  };
  let closed: Promise<void> | undefined;
  return {
    at: (stage, each) => void closers.set(stage, [...(closers.get(stage) ?? []), each]),
    [Symbol.asyncDispose]: () => (closed ??= close()),
  };
}
