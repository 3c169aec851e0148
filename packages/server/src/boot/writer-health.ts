import type { Logger } from "pino";
import type { StorageMetrics } from "@moorage/kernel/observe";
import type { StorageHealth } from "./storage-health.ts";

/** What is known of the thread that writes to SQLite, and of the space that it keeps. */
export interface WriterHealth {
  problem(): string | undefined;
  defect(): string | undefined;
  notice(): string | undefined;
  /** It died, or could not be started: the `failures`-th time in a row. */
  died(error: Error, failures: number): void;
  /** It takes writes again. */
  restarted(): void;
  /** It has run for so long that the failures before are forgotten. */
  settled(): void;
  /** Why the disk reserve cannot be kept; undefined when it can again. */
  reserve(fault: string | undefined): void;
}

// After as many attempts, or as much time, a restart of the process is worth more than another attempt.
const MOST_FAILURES = 8;
const LONGEST_DOWN_MS = 60_000;
const LOG_EVERY_MS = 60_000;

export function createWriterHealth(
  log: Logger,
  storage: Pick<StorageHealth, "suspect">,
  metrics: () => StorageMetrics | undefined,
): WriterHealth {
  let downSinceMs: number | undefined;
  let failures = 0;
  let reserveFault: string | undefined;
  let loggedMs = -Infinity;
  return {
    problem: () => (downSinceMs === undefined ? undefined : "the database takes no writes"),
    defect() {
      const isLost = downSinceMs !== undefined && performance.now() - downSinceMs > LONGEST_DOWN_MS;
      return failures >= MOST_FAILURES || isLost ? "the writer thread cannot be kept running" : undefined;
    },
    notice: () => (reserveFault === undefined ? undefined : `the disk reserve cannot be kept: ${reserveFault}`),
    died(error, count) {
      downSinceMs ??= performance.now();
      failures = count;
      metrics()?.writerDied();
      log.fatal({ err: error, failures }, "the writer thread died");
    },
    restarted() {
      downSinceMs = undefined;
      log.info("the writer thread was started again");
    },
    settled() {
      failures = 0;
    },
    reserve(fault) {
      const before = reserveFault;
      reserveFault = fault;
      if (fault === undefined) {
        loggedMs = -Infinity;
        return void (before !== undefined && log.info("the disk reserve is kept again"));
      }
      metrics()?.reserveFailed();
      // Whatever is wrong with the folder may keep the database from its work as well, though nobody writes just now.
      storage.suspect("database");
      const nowMs = performance.now();
      if (nowMs - loggedMs < LOG_EVERY_MS) return;
      loggedMs = nowMs;
      log.warn({ fault }, "the disk reserve cannot be kept; it is attempted again");
    },
  };
}
