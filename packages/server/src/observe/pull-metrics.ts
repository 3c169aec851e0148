import { Counter, type Registry } from "prom-client";

/** The events that pulls of this server are told of by. */
export interface PullMetrics {
  /** Pulls that no event tells of. */
  dropped(count: number): void;
}

/** Counts what no event tells of. */
export function pullMetrics(registry: Registry): PullMetrics {
  const dropped = new Counter({
    name: "moorage_events_dropped_total",
    help: "Pulls that no event tells of: too many at once, or the database did not take them.",
    registers: [registry],
  });
  return { dropped: (count) => dropped.inc(count) };
}
