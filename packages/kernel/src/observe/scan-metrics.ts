import { Counter, Histogram, type Registry } from "prom-client";
import { beginAtZero } from "./zeros.ts";

/** Metrics of scans by the adapters of groups. Types and outcomes: from bounded sets. */
export interface ScanMetrics {
  /** Counts an attempt that has begun. */
  started(type: string): void;
  /** Counts one that has ended, which took so many milliseconds. */
  ended(type: string, outcome: string, ms: number): void;
}

const TYPES = ["vulnerability", "sbom"];
const OUTCOMES = ["done", "failed", "again", "interrupted"];

/** Registers the metrics of scans. */
export function scanMetrics(registry: Registry): ScanMetrics {
  const registers = [registry];
  const started = new Counter({
    name: "moorage_vulnerability_scans_started_total",
    help: "Attempts to have an image scanned by a scanner that have begun.",
    labelNames: ["type"],
    registers,
  });
  const ended = new Counter({
    name: "moorage_vulnerability_scans_total",
    help: "Attempts to have an image scanned by a scanner that have ended, by how.",
    labelNames: ["type", "outcome"],
    registers,
  });
  const durations = new Histogram({
    name: "moorage_vulnerability_scan_duration_seconds",
    help: "How long an attempt to have an image scanned took, from the request to the stored report.",
    labelNames: ["type"],
    buckets: [0.5, 1, 5, 10, 30, 60, 300, 600, 1800],
    registers,
  });
  // All samples are there from the beginning.
  beginAtZero(started, { type: TYPES });
  beginAtZero(ended, { type: TYPES, outcome: OUTCOMES });
  return {
    started: (type) => started.inc({ type }),
    ended(type, outcome, ms) {
      ended.inc({ type, outcome });
      durations.observe({ type }, ms / 1000);
    },
  };
}
