import { Counter, Gauge, type Registry } from "prom-client";

/** The collecting of garbage by this server. */
export interface GcMetrics {
  /** A run came to its end at that time, in milliseconds since 1970. */
  ran(went: { tags: number; manifests: number; blobs: number; bytes: number }, atMs: number): void;
}

/** Counts runs and what went in them. */
export function gcMetrics(registry: Registry): GcMetrics {
  const counter = (name: string, help: string): Counter =>
    new Counter({ name: `moorage_gc_${name}_total`, help, registers: [registry] });
  const runs = counter("runs", "Runs of the garbage collection that came to their end.");
  const counters = {
    tags: counter("tags", "Tags that were deleted by the retention rules of their repos."),
    manifests: counter("manifests", "Manifests that were removed since nothing needed them."),
    blobs: counter("blobs", "Blobs that repos let go of since nothing needed them."),
    bytes: counter("bytes", "Bytes of content that went with the last repo that held it."),
  };
  const last = new Gauge({
    name: "moorage_gc_last_success_time_seconds",
    help: "When a run last came to its end, in seconds since 1970; 0: none did.",
    registers: [registry],
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
