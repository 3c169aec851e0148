import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import { beginAtZero } from "@moorage/kernel/core/zeros";

/** Metrics of the copying of images from upstream registries. Outcomes and kinds: from bounded sets. */
export interface MirrorMetrics {
  /** A copy run of a repo began; `end` ends it. */
  begin(): void;
  end(outcome: string): void;
  /** Counts tags that a copy run could not copy, or not with all that refers to them. */
  notCopied(failure: string, tags: number): void;
  /** Counts a stored manifest. */
  manifest(): void;
  /** Counts bytes of blobs received from upstream. */
  received(bytes: number): void;
  /** Counts a request to an upstream registry that a client's pull caused. */
  pulled(kind: string, outcome: string): void;
  /** Sets for how many milliseconds the most overdue repo has waited for its copy run. */
  late(ms: number): void;
}

function register(make: MetricMaker): MirrorMetrics {
  const runs = make.counter({
    name: "moorage_mirror_turns_total",
    help: "Copy runs of mirrored repos, by how they ended.",
    labelNames: ["outcome"],
  });
  const notCopied = make.counter({
    name: "moorage_mirror_failed_tags_total",
    help: "Tags that copy runs could not copy, or (referrers) not with all that refers to them, by why.",
    labelNames: ["failure"],
  });
  const underWay = make.gauge({ name: "moorage_mirror_turns_in_flight", help: "Copy runs in progress." });
  const manifests = make.counter({
    name: "moorage_mirror_manifests_total",
    help: "Manifests copied from upstream registries.",
  });
  const received = make.counter({
    name: "moorage_mirror_received_bytes_total",
    help: "Bytes of blobs received from upstream registries.",
  });
  const pulls = make.counter({
    name: "moorage_mirror_pulls_total",
    help: "Manifests and blobs requested from upstream registries for clients that pulled them.",
    labelNames: ["kind", "outcome"],
  });
  const late = make.gauge({
    name: "moorage_mirror_late_seconds",
    help: "For how long the most overdue mirrored repo has been due.",
    aggregator: "max",
  });
  beginAtZero(runs, { outcome: ["succeeded", "empty", "failed", "rate_limited", "stopped"] });
  beginAtZero(notCopied, { failure: ["missing", "wrong", "refused", "unreachable", "policy", "referrers"] });
  beginAtZero(pulls, { kind: ["manifest", "blob"], outcome: ["found", "missing", "trouble"] });
  return {
    begin: () => underWay.inc(),
    end(outcome) {
      underWay.dec();
      runs.inc({ outcome });
    },
    notCopied: (failure, tags) => notCopied.inc({ failure }, tags),
    manifest: () => manifests.inc(),
    received: (bytes) => received.inc(bytes),
    pulled: (kind, outcome) => pulls.inc({ kind, outcome }),
    late: (ms) => late.set(ms / 1000),
  };
}

/** Metrics of mirroring. */
export const mirrorMetrics: AreaMetrics<MirrorMetrics> = { register };
