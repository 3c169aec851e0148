import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";

/** Metrics of downloads of libraries, beside their requests. */
interface DownloadMetrics {
  /** Counts downloads that no statistics have. */
  uncounted(count: number): void;
}

function register(make: MetricMaker): DownloadMetrics {
  const uncounted = make.counter({
    name: "moorage_library_downloads_uncounted_total",
    help: "Downloads of libraries that the statistics lack: of too many different versions in a short time, or the database did not accept them.",
  });
  return { uncounted: (count) => uncounted.inc(count) };
}

/** Counters of downloads. */
export const downloadMetrics: AreaMetrics<DownloadMetrics> = { register };
