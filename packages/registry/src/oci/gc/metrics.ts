import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import type { Counter } from "prom-client";

/** Metrics of this server's garbage collection. */
export interface GcMetrics {
  /** Records a completed run, what it removed and when it ended, in milliseconds since 1970. */
  ran(went: { tags: number; manifests: number; blobs: number; bytes: number }, atMs: number): void;
}

function register(make: MetricMaker): GcMetrics {
  const counter = (name: string, help: string): Counter => make.counter({ name: `moorage_gc_${name}_total`, help });
  const runs = counter("runs", "Completed runs of the garbage collection.");
  const counters = {
    tags: counter("tags", "Tags that were deleted by the retention rules of their repos."),
    manifests: counter("manifests", "Manifests that were removed because nothing needed them."),
    blobs: counter("blobs", "Blobs that were unlinked from repos because nothing needed them."),
    bytes: counter("bytes", "Bytes of content that was removed with its last link."),
  };
  const last = make.gauge({
    name: "moorage_gc_last_success_time_seconds",
    help: "When a run last completed, in seconds since 1970; 0 if none did.",
    aggregator: "max",
  });
  return {
    ran(went, atMs) {
      runs.inc();
      for (const key of ["tags", "manifests", "blobs", "bytes"] as const) counters[key].inc(went[key]);
      last.set(atMs / 1000);
    },
  };
}

/** Counters of runs and of what they removed. */
export const gcMetrics: AreaMetrics<GcMetrics> = { register };
