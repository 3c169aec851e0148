import type { Logger } from "pino";
import type { BlobStore } from "../blobs/index.ts";
import type { Config } from "../config/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { Database } from "../store/index.ts";
import type { Transactor } from "./transactor.ts";
import type { Work } from "./work.ts";
import type { AreaMetrics } from "./metrics.ts";

/** Periodic work that one process does for the whole installation. */
export interface Job {
  /** The name of its lease. */
  name: string;
  /** The time from the beginning of a run until the job is due again, in milliseconds. */
  everyMs: number;
  /** What wakes it. It then runs whenever `isDue` says so, also sooner than after that time. Defaults to nothing. */
  work?: Work;
  /** The log message of a completed run. */
  done: string;
  /** Whether there is something to do; asked before the lease. Defaults to yes. */
  isDue?(): Promise<boolean>;
  /**
   * Runs the job once. `signal` ends it between two steps, and it rejects then. Returns what it did, as fields for the
   * log; undefined for nothing that is worth a line.
   */
  run(signal: AbortSignal): Promise<object | undefined>;
}

/** What the jobs of areas work with. */
export interface JobContext {
  transactor: Transactor;
  reader: Database;
  blobs: BlobStore;
  clock: Clock;
  log: Logger;
  config: Config;
  /** The metrics that an area declares. */
  metrics<T>(declared: AreaMetrics<T>): T;
}

/** What most jobs wait for between two runs, in milliseconds. */
export const HOUR_MS = 3_600_000;
