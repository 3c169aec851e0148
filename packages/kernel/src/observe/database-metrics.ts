import { Counter, Gauge, type Registry } from "prom-client";
import { beginAtZero } from "../core/zeros.ts";

/** The load of the database, read at each scrape. */
interface DatabaseGauges {
  /**
   * Connections: open ones, the idle ones among them, and callers that wait for one. Undefined when the engine has no
   * pool.
   */
  pool?: { total: number; idle: number; waiting: number } | undefined;
  /** Writes that wait or run. */
  writes: number;
}

/** Metrics that only the database engine knows. */
export interface DatabaseMetrics {
  /** Counts a transaction that is retried. `reason`: from a bounded set. */
  retried(reason: string): void;
  /** Sets the number of the newest event. */
  newestEvent(seq: number): void;
  /** Counts that the database was found to have been replaced by an older copy of itself. */
  wentBack(): void;
  /** Sets the source of the gauges. */
  watch(read: () => DatabaseGauges): void;
}

/** Registers the metrics that only the database engine knows. */
export function databaseMetrics(registry: Registry): DatabaseMetrics {
  const retries = new Counter({
    name: "moorage_database_retries_total",
    help: "Transactions that were retried.",
    labelNames: ["reason"],
    registers: [registry],
  });
  beginAtZero(retries, { reason: ["collision", "connection", "shortage"] });
  const back = new Counter({
    name: "moorage_database_went_back_total",
    help: "Times that this process found the database replaced by an older copy of itself.",
    registers: [registry],
  });
  const newest = new Gauge({
    name: "moorage_event_newest",
    help: "The number of the newest event of the installation. It never goes down by itself.",
    registers: [registry],
    aggregator: "max",
  });
  let gauges = (): DatabaseGauges => ({ writes: 0 });
  databaseGauges(registry, () => gauges());
  return {
    retried: (reason) => retries.inc({ reason }),
    newestEvent: (seq) => newest.set(seq),
    wentBack: () => back.inc(),
    watch(read) {
      gauges = read;
    },
  };
}

function databaseGauges(registry: Registry, read: () => DatabaseGauges): void {
  const registers = [registry];
  registry.registerMetric(
    new Gauge({
      name: "moorage_database_connections",
      help: "Connections of the pool, by state; waiting: calls that wait for one.",
      labelNames: ["state"],
      registers,
      collect() {
        const { pool } = read();
        if (pool === undefined) return;
        this.set({ state: "busy" }, pool.total - pool.idle);
        this.set({ state: "idle" }, pool.idle);
        this.set({ state: "waiting" }, pool.waiting);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "moorage_database_write_queue_length",
      help: "Writes that wait or run; past 10,000 they are rejected.",
      registers,
      collect() {
        this.set(read().writes);
      },
    }),
  );
}
