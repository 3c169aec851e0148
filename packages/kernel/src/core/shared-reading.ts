import { setTimeout as pause } from "node:timers/promises";

// A database that does not answer must not hold up the other metrics.
const READ_TIMEOUT_MS = 1_000;

/** What several gauges show, read once for all that are collected together. */
export interface SharedReading<T> {
  /** Sets the source. */
  from(read: () => Promise<T>): void;
  /** Undefined without a source, and when reading fails or takes too long: then gauges keep their last values. */
  look(): Promise<T | undefined>;
}

export function sharedReading<T>(): SharedReading<T> {
  let read: (() => Promise<T>) | undefined;
  let reading: Promise<T | undefined> | undefined;
  return {
    from(source) {
      read = source;
    },
    look: () =>
      (reading ??= Promise.race([
        read?.().catch(() => undefined),
        pause(READ_TIMEOUT_MS, undefined, { ref: false }),
      ]).finally(() => {
        reading = undefined;
      })),
  };
}
