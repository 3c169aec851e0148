import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";

/**
 * The order in which a server shuts down, and how long each stage may take, in milliseconds. First it says that it is
 * not ready; then the work that writes in the background ends; requests under way drain while deliveries under way are
 * recorded; then what they buffered is written; what all of them need closes last. `requests` may take the time for
 * draining as well.
 */
const STAGES = {
  readiness: 1_000,
  jobs: 3_000,
  mirroring: 3_000,
  requests: 4_000,
  auditor: 3_000,
  "pull recorder": 2_000,
  "pull publisher": 2_000,
  writer: 5_000,
  store: 3_000,
  "data folder": 1_000,
  observation: 3_000,
} as const;

type Stage = keyof typeof STAGES;

/** All stages together take at most this long, in milliseconds, beside the delay and the time for draining. */
export const SHUTDOWN_LIMIT_MS = 30_000;

/**
 * Closes something. A text that it returns says what it had to cut off.
 */
type Close = () => unknown;

/** Closes what was opened, in a fixed order, when a server ends or fails to start. */
export interface Shutdown extends AsyncDisposable {
  /** Registers a function that closes something at its stage. Those of one stage run together. */
  at(stage: Stage, close: Close): void;
  /** What was cut off so far because it took too long. */
  cut(): readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ShutdownOptions {
  /** How long requests under way may take, in milliseconds. Defaults to none. */
  drainTimeoutMs?: number;
  log?: Pick<Logger, "warn">;
}

/**
 * Disposing again waits for the same end. Everything is closed, even when something before it fails to close or takes
 * too long; disposing rejects when something failed. What took too long goes on beside the stages after it.
 */
export function createShutdown({ drainTimeoutMs = 0, log }: ShutdownOptions = {}): Shutdown {
  const closers = new Map<Stage, Close[]>();
  const cut: string[] = [];
  const cutOff = (stage: Stage, what: string): void => {
    cut.push(what);
    log?.warn({ stage }, what);
  };
  const closeStage = async (stage: Stage): Promise<void> => {
    const limitMs = STAGES[stage] + (stage === "requests" ? drainTimeoutMs : 0);
    const closing = Promise.allSettled((closers.get(stage) ?? []).map(async (each) => await each()));
    const timer = new AbortController();
    const late = wait(limitMs, undefined, { signal: timer.signal }).catch(() => {});
    const ended = await Promise.race([closing, late]);
    timer.abort();
    if (ended === undefined) return cutOff(stage, `${stage} did not end within ${limitMs / 1000} s`);
    for (const result of ended)
      if (result.status === "fulfilled" && typeof result.value === "string") cutOff(stage, result.value);
    const errors = ended.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    if (errors.length > 0) throw new AggregateError(errors, `closing failed: ${stage}`);
  };
  const close = async (): Promise<void> => {
    // A stack runs its functions in reverse order.
    await using stack = new AsyncDisposableStack();
    for (const stage of (Object.keys(STAGES) as Stage[]).toReversed()) stack.defer(() => closeStage(stage));
  };
  let closed: Promise<void> | undefined;
  return {
    at: (stage, each) => void closers.set(stage, [...(closers.get(stage) ?? []), each]),
    cut: () => cut,
    [Symbol.asyncDispose]: () => (closed ??= close()),
  };
}
