import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import { sharedReading } from "@moorage/kernel/core/shared-reading";
import { beginAtZero } from "@moorage/kernel/core/zeros";
import type { Ended } from "./commands.ts";
import type { ReplicationFigures } from "./figures.ts";

/** Metrics of replications. */
export interface ReplicationMetrics {
  /** Counts an attempt to push a tag that ended. */
  ended(outcome: Ended["outcome"]): void;
  /** Counts bytes of blobs that were sent. */
  sent(bytes: number): void;
  /** Sets the source of what is not done; it is read at each scrape. */
  watch(read: () => Promise<{ nowMs: number; figures: ReplicationFigures }>): void;
}

const OUTCOMES = ["done", "outdated", "blocked", "failed", "released"] as const satisfies readonly Ended["outcome"][];

function register(make: MetricMaker): ReplicationMetrics {
  const reading = sharedReading<{ nowMs: number; figures: ReplicationFigures }>();
  const attempts = make.counter({
    name: "moorage_replication_attempts_total",
    help: "Attempts to bring a tag to another registry, by how they ended.",
    labelNames: ["outcome"],
  });
  const sent = make.counter({
    name: "moorage_replication_sent_bytes_total",
    help: "Bytes of blobs sent to other registries.",
  });
  make.gauge({
    name: "moorage_replication_items",
    help: "Tags that are to be brought to other registries, by how far they are, without those that are there.",
    labelNames: ["state"],
    aggregator: "max",
    async collect() {
      const read = await reading.look();
      for (const [state, count] of read?.figures.items ?? []) this.set({ state }, count);
    },
  });
  make.gauge({
    name: "moorage_replication_late_seconds",
    help: "For how long the tag has waited that has waited the longest to be brought to another registry.",
    aggregator: "max",
    async collect() {
      const read = await reading.look();
      if (read === undefined) return;
      const { nowMs, figures } = read;
      this.set(Math.max(0, nowMs - (figures.waitingSinceMs ?? nowMs)) / 1000);
    },
  });
  beginAtZero(attempts, { outcome: OUTCOMES });
  return {
    ended: (outcome) => attempts.inc({ outcome }),
    sent: (bytes) => sent.inc(bytes),
    watch: reading.from,
  };
}

/** Metrics of replications. */
export const replicationMetrics: AreaMetrics<ReplicationMetrics> = { register };
