import type { AreaMetrics, MetricMaker } from "@moorage/kernel/core/metrics";
import type { Gauge } from "prom-client";
import { sharedReading } from "@moorage/kernel/core/shared-reading";

/** The deliveries of one subscription that are not done. */
interface Backlog {
  subscription: string;
  /** The number of deliveries that are neither delivered nor given up. */
  open: number;
  /** When the event of the oldest such delivery happened, in milliseconds since 1970. */
  oldestMs: number;
}

/** Metrics of this server's event deliveries. */
export interface EventMetrics {
  /** Records a finished delivery attempt. `outcome`: from a bounded set. */
  attempted(result: { subscription: string; outcome: string; seconds: number }): void;
  /** Sets the source of the backlogs; it is read at each scrape. */
  watch(read: () => Promise<Reading>): void;
}

/** The backlogs, and the time at which they were read. */
interface Reading {
  nowMs: number;
  backlogs: readonly Backlog[];
}

// At most this many subscriptions have their own time series; the others share one.
const MAX_SERIES = 100;
const BOUNDS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

function register(make: MetricMaker): EventMetrics {
  const attempts = make.counter({
    name: "moorage_event_tries_total",
    help: "Attempts to deliver an event, by how they ended.",
    labelNames: ["subscription", "outcome"],
  });
  const failures = make.counter({
    name: "moorage_event_failures_total",
    help: "Attempts to deliver an event that failed.",
    labelNames: ["subscription"],
  });
  const duration = make.histogram({
    name: "moorage_event_try_duration_seconds",
    help: "How long attempts to deliver an event took.",
    labelNames: ["outcome"],
    buckets: BOUNDS_S,
  });
  const known = new Set<string>();
  const nameOf = (subscription: string): string => {
    if (known.size < MAX_SERIES) known.add(subscription);
    return known.has(subscription) ? subscription : "other";
  };
  const reading = sharedReading<Reading>();
  type ValueOf = (backlog: Backlog, nowMs: number) => number;
  const gauge = (name: string, help: string, valueOf: ValueOf): Gauge =>
    make.gauge({
      name,
      help,
      labelNames: ["subscription"],
      aggregator: "max",
      async collect() {
        const waiting = await reading.look();
        if (waiting === undefined) return;
        this.reset();
        for (const backlog of waiting.backlogs)
          this.set({ subscription: backlog.subscription }, valueOf(backlog, waiting.nowMs));
      },
    });
  gauge("moorage_event_backlog", "Deliveries that are not over.", ({ open }) => open);
  gauge(
    "moorage_event_backlog_age_seconds",
    "For how long the oldest event that is not delivered yet has been waiting.",
    ({ oldestMs }, nowMs) => Math.max(0, nowMs - oldestMs) / 1000,
  );
  return {
    attempted({ subscription: uid, outcome, seconds }) {
      const subscription = nameOf(uid);
      attempts.inc({ subscription, outcome });
      duration.observe({ outcome }, seconds);
      if (outcome !== "delivered") failures.inc({ subscription });
    },
    watch: reading.from,
  };
}

/** Metrics of event deliveries. */
export const eventMetrics: AreaMetrics<EventMetrics> = { register };
