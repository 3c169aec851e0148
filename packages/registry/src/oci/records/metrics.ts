import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import { beginAtZero } from "@moorage/kernel/core/zeros";

/** Metrics of pulls from this server, beside their requests. */
export interface PullMetrics {
  /** Counts pulls for which no event was emitted. */
  dropped(count: number): void;
  /** Counts pulls that no statistics have. */
  uncounted(count: number): void;
  /** Counts a pull of which a vulnerability gate had something to say. Outcomes and reasons: from bounded sets. */
  gated(outcome: string, reason: string): void;
  /** Sets where to read how many pulls wait for their turn. */
  watch(waiting: () => number): void;
}

function register(make: MetricMaker): PullMetrics {
  const dropped = make.counter({
    name: "moorage_events_dropped_total",
    help: "Pulls without an event: too many in a short time, or the database did not accept them.",
  });
  const uncounted = make.counter({
    name: "moorage_pulls_uncounted_total",
    help: "Pulls that the statistics lack: too many different ones in a short time, or the database did not accept them.",
  });
  const gated = make.counter({
    name: "moorage_gated_pulls_total",
    help: "Pulls of images with findings, without signatures, or of which it is not known what they hold, by what a gate or policy did and why.",
    labelNames: ["outcome", "reason"],
  });
  beginAtZero(gated, {
    outcome: ["rejected", "previewed", "passed"],
    reason: ["findings", "waiting", "unknown", "signatures", "signatures_waiting"],
  });
  let waiting = (): number => 0;
  make.gauge({
    name: "moorage_pulls_waiting",
    help: "Pulls, and requests for their tokens, that wait for their organization's turn.",
    collect() {
      this.set(waiting());
    },
  });
  return {
    dropped: (count) => dropped.inc(count),
    uncounted: (count) => uncounted.inc(count),
    gated: (outcome, reason) => gated.inc({ outcome, reason }),
    watch: (read) => (waiting = read),
  };
}

/** Metrics of pulls. */
export const pullMetrics: AreaMetrics<PullMetrics> = { register };
