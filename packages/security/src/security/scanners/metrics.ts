import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import { beginAtZero } from "@moorage/kernel/core/zeros";

/** Metrics of scans by the adapters of groups. Types and outcomes: from bounded sets. */
export interface ScanMetrics {
  /** Counts an attempt that has begun. */
  started(type: string): void;
  /** Counts one that has ended, which took so many milliseconds. */
  ended(type: string, outcome: string, ms: number): void;
}

const TYPES = ["vulnerability", "sbom"];
const OUTCOMES = ["done", "failed", "again", "interrupted"];

function register(make: MetricMaker): ScanMetrics {
  const started = make.counter({
    name: "moorage_vulnerability_scans_started_total",
    help: "Attempts to have an image scanned by a scanner that have begun.",
    labelNames: ["type"],
  });
  const ended = make.counter({
    name: "moorage_vulnerability_scans_total",
    help: "Attempts to have an image scanned by a scanner that have ended, by how.",
    labelNames: ["type", "outcome"],
  });
  const durations = make.histogram({
    name: "moorage_vulnerability_scan_duration_seconds",
    help: "How long an attempt to have an image scanned took, from the request to the stored report.",
    labelNames: ["type"],
    buckets: [0.5, 1, 5, 10, 30, 60, 300, 600, 1800],
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

/** Metrics of scans. */
export const scanMetrics: AreaMetrics<ScanMetrics> = { register };
