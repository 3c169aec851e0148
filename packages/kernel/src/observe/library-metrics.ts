import { Counter, type Registry } from "prom-client";

/** Metrics of the upstreams of libraries. All labels are from bounded sets. */
export interface LibraryMetrics {
  /** Counts a request to an upstream: of a document or a file, and how it ended. */
  asked(ecosystem: string, kind: string, outcome: string): void;
  /** Counts bytes of documents and files received from upstreams. */
  received(ecosystem: string, bytes: number): void;
  /** Counts a version of which an upstream says something else than when it came. */
  changed(ecosystem: string): void;
}

/** Registers the metrics of libraries. */
export function libraryMetrics(registry: Registry): LibraryMetrics {
  const registers = [registry];
  const asked = new Counter({
    name: "moorage_library_upstream_requests_total",
    help: "Requests to upstreams of libraries, by what was asked for and how it ended.",
    labelNames: ["ecosystem", "kind", "outcome"],
    registers,
  });
  const received = new Counter({
    name: "moorage_library_upstream_received_bytes_total",
    help: "Bytes received from upstreams of libraries.",
    labelNames: ["ecosystem"],
    registers,
  });
  const changed = new Counter({
    name: "moorage_library_upstream_changed_total",
    help: "Versions of which an upstream says something else than when they came.",
    labelNames: ["ecosystem"],
    registers,
  });
  return {
    asked: (ecosystem, kind, outcome) => asked.inc({ ecosystem, kind, outcome }),
    received: (ecosystem, bytes) => received.inc({ ecosystem }, bytes),
    changed: (ecosystem) => changed.inc({ ecosystem }),
  };
}
