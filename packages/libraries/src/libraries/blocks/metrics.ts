import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import { beginAtZero } from "@moorage/kernel/core/zeros";

/** Metrics of what policies of libraries block. */
export interface BlockMetrics {
  /** Counts a request for a version that is blocked. `reason` and `mode`: from bounded sets. */
  noted(reason: string, mode: string): void;
  /** Counts requests that are missing from the list of blocks. */
  dropped(count: number): void;
}

function register(make: MetricMaker): BlockMetrics {
  const noted = make.counter({
    name: "moorage_library_blocks_total",
    help: "Requests for versions of libraries that a policy blocks, or would block in preview, by reason and mode.",
    labelNames: ["reason", "mode"],
  });
  const dropped = make.counter({
    name: "moorage_library_blocks_dropped_total",
    help: "Requests missing from the list of blocks: too many in a short time, or the database did not accept them.",
  });
  beginAtZero(noted, { reason: ["cooldown", "malware", "purl", "license"], mode: ["enforce", "preview"] });
  return { noted: (reason, mode) => noted.inc({ reason, mode }), dropped: (count) => dropped.inc(count) };
}

/** Counters of what policies of libraries block. */
export const blockMetrics: AreaMetrics<BlockMetrics> = { register };
