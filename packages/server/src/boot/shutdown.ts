/**
 * The order in which a server shuts down. First the work that writes in the background ends; then the server reports
 * that it is not ready, and requests under way drain while deliveries under way are recorded; then what they buffered
 * is written; what all of them need closes last.
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

/** Closes what was opened, in a fixed order, when a server ends or fails to start. */
export interface Shutdown extends AsyncDisposable {
  /** Registers a function that closes something at its stage. Those of one stage run together. */
  at(stage: Stage, close: () => void | Promise<void>): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Disposing again waits for the same end. Everything is closed, even when something before it fails to close; disposing
 * rejects then.
 */
export function createShutdown(): Shutdown {
  const closers = new Map<Stage, (() => void | Promise<void>)[]>();
  const close = async (): Promise<void> => {
    // A stack runs its functions in reverse order.
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
