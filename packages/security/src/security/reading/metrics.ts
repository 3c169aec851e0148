import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import { beginAtZero } from "@moorage/kernel/core/zeros";

/** Metrics of the reading of images' packages. Outcomes: from a bounded set. */
export interface CatalogMetrics {
  /** Counts an attempt to read an image, which took so many milliseconds. */
  read(outcome: string, ms: number): void;
  /** Counts a process that reads images and ended, which it should not have. Kinds: from a bounded set. */
  readerDied(kind: string): void;
  /** Sets the number of images that wait. */
  waiting(images: number): void;
  /** Counts a document that is attached to an image. Kinds and outcomes: from bounded sets. */
  attached(kind: string, outcome: string): void;
  /** Sets what waits: digests to which something may have been attached, and attached manifests. */
  attachedWaiting(backlog: { checks: number; manifests: number }): void;
}

function register(make: MetricMaker): CatalogMetrics {
  const attempts = make.counter({
    name: "moorage_vulnerability_catalogs_total",
    help: "Attempts to read the packages of an image, by how they ended.",
    labelNames: ["outcome"],
  });
  const durations = make.histogram({
    name: "moorage_vulnerability_catalog_duration_seconds",
    help: "How long an attempt to read the packages of an image took.",
    buckets: [0.1, 0.5, 1, 5, 10, 30, 60, 300, 600],
  });
  const deaths = make.counter({
    name: "moorage_vulnerability_reader_deaths_total",
    help: "Processes that read images and ended unexpectedly or were killed: by timeout, for memory, or died.",
    labelNames: ["kind"],
  });
  const backlog = make.gauge({
    name: "moorage_vulnerability_backlog",
    help: "Images of the installation whose packages have not been read yet, or by earlier readers; 100,000 for more.",
    aggregator: "max",
  });
  const documents = make.counter({
    name: "moorage_vulnerability_attached_documents_total",
    help: "Documents attached to images that were read, by kind and by how that ended.",
    labelNames: ["kind", "outcome"],
  });
  const attachedBacklog = make.gauge({
    name: "moorage_vulnerability_attached_backlog",
    help: "Digests to which something may have been attached, and attached manifests, that wait; 100,000 for more.",
    labelNames: ["kind"],
    aggregator: "max",
  });
  // All samples are there from the beginning.
  beginAtZero(deaths, { kind: ["timeout", "memory", "died"] });
  beginAtZero(documents, {
    kind: ["cyclonedx", "spdx", "openvex", "csaf", "unknown"],
    outcome: ["read", "rejected", "failed"],
  });
  beginAtZero(attempts, { outcome: ["done", "failed", "again", "interrupted"] });
  for (const kind of ["checks", "manifests"]) attachedBacklog.set({ kind }, 0);
  return {
    attached: (kind, outcome) => documents.inc({ kind, outcome }),
    attachedWaiting({ checks, manifests }) {
      attachedBacklog.set({ kind: "checks" }, checks);
      attachedBacklog.set({ kind: "manifests" }, manifests);
    },
    read(outcome, ms) {
      attempts.inc({ outcome });
      durations.observe(ms / 1000);
    },
    readerDied: (kind) => deaths.inc({ kind }),
    waiting: (images) => backlog.set(images),
  };
}

/** Metrics of the reading of images' packages. */
export const catalogMetrics: AreaMetrics<CatalogMetrics> = { register };
