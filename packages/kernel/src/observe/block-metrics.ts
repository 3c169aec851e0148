import { Counter, type Registry } from "prom-client";
import { beginAtZero } from "./zeros.ts";

/** Metrics of what policies of libraries block. */
export interface BlockMetrics {
  /** Counts a request for a version that is blocked. `reason` and `mode`: from bounded sets. */
  noted(reason: string, mode: string): void;
  /** Counts requests that are missing from the list of blocks. */
  dropped(count: number): void;
}

/** Registers the counters of what policies of libraries block. */
export function blockMetrics(registry: Registry): BlockMetrics {
  const noted = new Counter({
    name: "moorage_library_blocks_total",
    help: "Requests for versions of libraries that a policy blocks, or would block in preview, by reason and mode.",
    labelNames: ["reason", "mode"],
    registers: [registry],
  });
  const dropped = new Counter({
    name: "moorage_library_blocks_dropped_total",
    help: "Requests missing from the list of blocks: too many in a short time, or the database did not accept them.",
    registers: [registry],
  });
  beginAtZero(noted, { reason: ["cooldown", "malware", "purl", "license"], mode: ["enforce", "preview"] });
  return { noted: (reason, mode) => noted.inc({ reason, mode }), dropped: (count) => dropped.inc(count) };
}
