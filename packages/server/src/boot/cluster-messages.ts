import type { Config } from "@moorage/kernel/config";
import type { Snapshot } from "@moorage/kernel/observe";

// The messages between the processes of cluster.ts.

/** To a worker. */
export type ToWorker =
  | { type: "start"; settings: Config; number: number; address: string }
  /** Comes with a connection to serve. */
  | { type: "connection" }
  /** Say that it is not ready, go on for so long, drain and exit. */
  | { type: "stop"; delayMs: number }
  /** Asks whether the worker's event loop still turns. */
  | { type: "ping" }
  /** Asks for the worker's metrics. */
  | { type: "count"; id: number }
  /** The metrics of all workers: the answer to `collect`. */
  | { type: "collected"; id: number; snapshots: Snapshot[] };

/** From a worker. */
export type FromWorker =
  | { type: "ready" }
  /** Takes connections from now on; before it is ready it answers that it starts. */
  | { type: "accepting" }
  /** The answer to `ping`. */
  | { type: "pong" }
  /** Takes no more connections. */
  | { type: "leaving" }
  /** So many of its connections are closed. */
  | { type: "closed"; count: number }
  /**
   * The worker could not start. `setting` is set when the operator has to change a setting, which the message names in
   * one line.
   */
  | { type: "failed"; message: string; setting: boolean }
  | { type: "counted"; id: number; snapshot: Snapshot }
  /** This worker got a request for the metrics of all. */
  | { type: "collect"; id: number };
