import type { Config } from "../config/index.ts";
import type { Snapshot } from "../observe/index.ts";

// What the processes of cluster.ts tell each other.

/** To a worker. */
export type ToWorker =
  | { type: "start"; settings: Config; number: number }
  /** Drain and end. */
  | { type: "stop" }
  /** Emit what you counted. */
  | { type: "count"; id: number }
  /** What all counted: the answer to `collect`. */
  | { type: "collected"; id: number; snapshots: Snapshot[] };

/** From a worker. */
export type FromWorker =
  | { type: "ready" }
  /** It could not start. `setting`: by the operator's fault, said in one line. */
  | { type: "failed"; message: string; setting: boolean }
  | { type: "counted"; id: number; snapshot: Snapshot }
  /** Somebody asked this worker for the metrics. */
  | { type: "collect"; id: number };
