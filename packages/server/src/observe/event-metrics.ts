import { setTimeout as pause } from "node:timers/promises";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** What waits for one subscription. */
export interface Backlog {
  subscription: string;
  /** Deliveries that are not over. */
  open: number;
  /** When the event of the oldest happened, in milliseconds since 1970. */
  oldestMs: number;
}

/** The sending of events by this server. */
export interface EventMetrics {
  /** A try ended. `outcome`: from a bounded set. */
  tried(result: { subscription: string; outcome: string; seconds: number }): void;
  /** Says where the backlogs come from; asked when somebody scrapes. */
  watch(read: () => Promise<Reading>): void;
}

/** What waits, and when that was so. */
interface Reading {
  nowMs: number;
  backlogs: readonly Backlog[];
}

// A series for each subscription that is sent to, so many at most: beyond that they share one.
const MAX_SERIES = 500;
// A database that hangs does not keep the other metrics.
const READ_TIMEOUT_MS = 1_000;
const BOUNDS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

/** Starts counting it. */
export function eventMetrics(registry: Registry): EventMetrics {
  const registers = [registry];
  const tries = new Counter({
    name: "moorage_event_tries_total",
    help: "Tries to deliver an event, by how they ended.",
    labelNames: ["subscription", "outcome"],
    registers,
  });
  const failures = new Counter({
    name: "moorage_event_failures_total",
    help: "Tries to deliver an event that failed.",
    labelNames: ["subscription"],
    registers,
  });
  const duration = new Histogram({
    name: "moorage_event_try_duration_seconds",
    help: "How long tries to deliver an event took.",
    labelNames: ["outcome"],
    buckets: BOUNDS_S,
    registers,
  });
  const known = new Set<string>();
  const nameOf = (subscription: string): string => {
    if (known.size < MAX_SERIES) known.add(subscription);
    return known.has(subscription) ? subscription : "other";
  };
  let read = async (): Promise<Reading> => ({ nowMs: 0, backlogs: [] });
  let reading: Promise<Reading | undefined> | undefined;
  // Both gauges are asked together, and answer from one look.
  const look = (): Promise<Reading | undefined> =>
    (reading ??= Promise.race([
      // What was known last is better than no metrics at all.
      read().catch(() => undefined),
      pause(READ_TIMEOUT_MS, undefined, { ref: false }),
    ]).finally(() => {
      reading = undefined;
    }));
  type ValueOf = (backlog: Backlog, nowMs: number) => number;
  const gauge = (name: string, help: string, valueOf: ValueOf): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: ["subscription"],
      registers,
      aggregator: "max",
      async collect() {
        const waiting = await look();
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
    tried({ subscription: uid, outcome, seconds }) {
      const subscription = nameOf(uid);
      tries.inc({ subscription, outcome });
      duration.observe({ outcome }, seconds);
      if (outcome !== "delivered") failures.inc({ subscription });
    },
    watch: (from) => {
      read = from;
    },
  };
}
