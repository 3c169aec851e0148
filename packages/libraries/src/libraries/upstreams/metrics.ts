import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";

/** Metrics of the upstreams of libraries. All labels are from bounded sets. */
export interface LibraryMetrics {
  /** Counts a request to an upstream: of a document or a file, and how it ended. */
  asked(ecosystem: string, kind: string, outcome: string): void;
  /** Counts bytes of documents and files received from upstreams. */
  received(ecosystem: string, bytes: number): void;
  /** Counts a version of which an upstream says something else than when it came. */
  changed(ecosystem: string): void;
}

function register(make: MetricMaker): LibraryMetrics {
  const asked = make.counter({
    name: "moorage_library_upstream_requests_total",
    help: "Requests to upstreams of libraries, by what was asked for and how it ended.",
    labelNames: ["ecosystem", "kind", "outcome"],
  });
  const received = make.counter({
    name: "moorage_library_upstream_received_bytes_total",
    help: "Bytes received from upstreams of libraries.",
    labelNames: ["ecosystem"],
  });
  const changed = make.counter({
    name: "moorage_library_upstream_changed_total",
    help: "Versions of which an upstream says something else than when they came.",
    labelNames: ["ecosystem"],
  });
  return {
    asked: (ecosystem, kind, outcome) => asked.inc({ ecosystem, kind, outcome }),
    received: (ecosystem, bytes) => received.inc({ ecosystem }, bytes),
    changed: (ecosystem) => changed.inc({ ecosystem }),
  };
}

/** Metrics of libraries. */
export const libraryMetrics: AreaMetrics<LibraryMetrics> = { register };
