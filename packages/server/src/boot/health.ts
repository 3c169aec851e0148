import { resolve } from "node:path";
import type { Logger } from "pino";
import { databasePath } from "@moorage/kernel/lib/database-path";
import { faultIn } from "@moorage/kernel/lib/storage-fault";
import type { StorageMetrics } from "@moorage/kernel/observe";
import { describeDamage } from "@moorage/kernel/store";
import { createStorageHealth, type StorageHealth } from "./storage-health.ts";
import { createWriterHealth, type WriterHealth } from "./writer-health.ts";

/** What is wrong with this process. */
export interface Health {
  /**
   * What keeps it from being ready, beside starting, in a few words for `/readyz`; undefined when nothing is known to.
   */
  problem(): string | undefined;
  /** What a restart would mend, in a few words for `/healthz`; undefined when nothing is known to be wrong. */
  defect(): string | undefined;
  /** What does not keep it from being ready, but is worth a look; undefined when there is nothing. */
  notice(): string | undefined;
  /** From now on it is not ready: it shuts down. */
  closing(): void;
  /** The engine found the database's file damaged. Logged at most once a minute; only a restart forgets it. */
  damaged(error: Error): void;
  /** Why this program may not write to the database, in one sentence; undefined while it may. */
  outdated(problem: string | undefined): void;
  /** The thread that writes to SQLite. */
  writer: WriterHealth;
  /** Faults of the database, the blob store and the disk. */
  storage: StorageHealth;
  /** Where faults are counted from now on. */
  measure(metrics: StorageMetrics): void;
  /** Looks after nothing any more. */
  close(): void;
}

const LOG_EVERY_MS = 60_000;

/** `dataDir`: of the database, where that is embedded. */
export function createHealth(log: Logger, dataDir: string): Health {
  let measured: StorageMetrics | undefined;
  const metrics = (): StorageMetrics | undefined => measured;
  const storage = createStorageHealth(log, metrics);
  const writer = createWriterHealth(log, storage, metrics);
  let outdated: string | undefined;
  let isClosing = false;
  let isDamaged = false;
  let loggedMs = -Infinity;
  const damaged = (error: unknown): void => {
    isDamaged = true;
    const nowMs = performance.now();
    if (nowMs - loggedMs < LOG_EVERY_MS) return;
    loggedMs = nowMs;
    log.error({ err: error }, describeDamage(resolve(databasePath(dataDir))));
  };
  return {
    problem() {
      if (isClosing) return "it is shutting down";
      if (isDamaged) return "the database is damaged";
      return outdated ?? writer.problem() ?? storage.problem();
    },
    defect: () => writer.defect() ?? storage.defect(),
    notice: () => writer.notice() ?? storage.notice(),
    closing: () => void (isClosing = true),
    outdated: (problem) => void (outdated = problem),
    damaged,
    writer,
    storage: {
      ...storage,
      noted(error) {
        if (faultIn(error)?.reason === "damaged") damaged(error);
        storage.noted(error);
      },
    },
    measure: (given) => void (measured = given),
    close: () => storage.close(),
  };
}
