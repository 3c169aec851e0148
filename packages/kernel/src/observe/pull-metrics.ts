import { Counter, Gauge, type Registry } from "prom-client";
import { beginAtZero } from "./zeros.ts";

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

/** Registers the metrics of pulls. */
export function pullMetrics(registry: Registry): PullMetrics {
  const registers = [registry];
  const dropped = new Counter({
    name: "moorage_events_dropped_total",
    help: "Pulls without an event: too many in a short time, or the database did not accept them.",
    registers,
  });
  const uncounted = new Counter({
    name: "moorage_pulls_uncounted_total",
    help: "Pulls that the statistics lack: too many different ones in a short time, or the database did not accept them.",
    registers,
  });
  const gated = new Counter({
    name: "moorage_gated_pulls_total",
    help: "Pulls of images with findings, without signatures, or of which it is not known what they hold, by what a gate or policy did and why.",
    labelNames: ["outcome", "reason"],
    registers,
  });
  beginAtZero(gated, {
    outcome: ["rejected", "previewed", "passed"],
    reason: ["findings", "waiting", "unknown", "signatures", "signatures_waiting"],
  });
  let waiting = (): number => 0;
  registry.registerMetric(
    new Gauge({
      name: "moorage_pulls_waiting",
      help: "Pulls, and requests for their tokens, that wait for their organization's turn.",
      registers,
      collect() {
        this.set(waiting());
      },
    }),
  );
  return {
    dropped: (count) => dropped.inc(count),
    uncounted: (count) => uncounted.inc(count),
    gated: (outcome, reason) => gated.inc({ outcome, reason }),
    watch: (read) => (waiting = read),
  };
}
