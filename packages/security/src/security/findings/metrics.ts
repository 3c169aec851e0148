import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import { beginAtZero } from "@moorage/kernel/core/zeros";

/** Metrics of the comparison of packages with the records of feeds. */
export interface MatchingMetrics {
  /** Counts findings that were opened. */
  opened(findings: number): void;
  /** Counts findings that were closed. */
  closed(findings: number): void;
  /** Counts a transaction of it, which took so many milliseconds. */
  step(ms: number): void;
  /** Sets what waits to be compared. */
  waiting(backlog: { packages: number; records: number }): void;
}

function register(make: MetricMaker): MatchingMetrics {
  const findings = make.counter({
    name: "moorage_vulnerability_findings_total",
    help: "Findings of packages that were opened and closed.",
    labelNames: ["change"],
  });
  const durations = make.histogram({
    name: "moorage_vulnerability_matching_duration_seconds",
    help: "How long the transactions took in which packages and records were compared.",
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  });
  const backlog = make.gauge({
    name: "moorage_vulnerability_matching_backlog",
    help: "Packages that are new, and records that changed, that were not compared yet; 100,000 for more.",
    labelNames: ["kind"],
    aggregator: "max",
  });
  // All samples are there from the beginning.
  beginAtZero(findings, { change: ["opened", "closed"] });
  for (const kind of ["packages", "records"]) backlog.set({ kind }, 0);
  return {
    opened: (count) => findings.inc({ change: "opened" }, count),
    closed: (count) => findings.inc({ change: "closed" }, count),
    step: (ms) => durations.observe(ms / 1000),
    waiting({ packages, records }) {
      backlog.set({ kind: "packages" }, packages);
      backlog.set({ kind: "records" }, records);
    },
  };
}

/** Metrics of the comparison of packages with the records of feeds. */
export const matchingMetrics: AreaMetrics<MatchingMetrics> = { register };
