import { Counter, type Registry } from "prom-client";

/** The events of this server's pulls. */
export interface PullMetrics {
  /** Pulls without an event. */
  dropped(count: number): void;
}

/** Counts pulls without an event. */
export function pullMetrics(registry: Registry): PullMetrics {
  const dropped = new Counter({
    name: "moorage_events_dropped_total",
    help: "Pulls without an event: too many in a short time, or the database did not take them.",
    registers: [registry],
  });
  return { dropped: (count) => dropped.inc(count) };
}
