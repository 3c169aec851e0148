import { Counter, type Registry } from "prom-client";

/** Metrics of the pull events of this server. */
export interface PullMetrics {
  /** Counts pulls for which no event was emitted. */
  dropped(count: number): void;
}

/** Registers the counter of pulls without an event. */
export function pullMetrics(registry: Registry): PullMetrics {
  const dropped = new Counter({
    name: "moorage_events_dropped_total",
    help: "Pulls without an event: too many in a short time, or the database did not accept them.",
    registers: [registry],
  });
  return { dropped: (count) => dropped.inc(count) };
}
