import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { AreaMetrics, MetricMaker } from "../core/metrics.ts";
import { type AuditMetrics, auditMetrics } from "./audit-metrics.ts";
import { type DatabaseMetrics, databaseMetrics } from "./database-metrics.ts";
import { type ContentMetrics, contentMetrics } from "./content-metrics.ts";
import { type GoldenSignals, goldenSignals } from "./golden-signals.ts";
import { type LargeMetrics, largeMetrics } from "./large-metrics.ts";
import { type SchemaMetrics, schemaMetrics } from "./schema-metrics.ts";
import { type StorageMetrics, storageMetrics } from "./storage-metrics.ts";

// The value of the label is public: dashboards and alerts use it.
const HANDLER_LABEL = "door";

/** The metrics of one server, as plain data that can be sent between processes. */
export type Snapshot = object[];

/** All metrics of one server. */
export interface Metrics {
  audit: AuditMetrics;
  large: LargeMetrics;
  schema: SchemaMetrics;
  storage: StorageMetrics;
  http: GoldenSignals;
  rpc: GoldenSignals;
  registry: GoldenSignals & { received(verb: string, bytes: number): void; sent(verb: string, bytes: number): void };
  /** Counts a request rejected by a rate limit. `handler` and `kind`: from bounded sets. */
  limited(handler: string, kind: string): void;
  database: GoldenSignals & DatabaseMetrics;
  blobs: GoldenSignals & ContentMetrics & { read(bytes: number): void; written(bytes: number): void };
  /** Those that an area declares. Throws for what was not named when the metrics were created. */
  of<T>(declared: AreaMetrics<T>): T;
  snapshot(): Promise<Snapshot>;
}

/** The content type of the text that `mergeSnapshots` returns. */
export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/**
 * Registers the metrics of one server. Servers in one process count separately; metrics of the process are in the
 * snapshot of each. `declared`: those of the areas.
 */
export function createMetrics(version: string, declared: readonly AreaMetrics<unknown>[]): Metrics {
  const registry = new Registry();
  setBuildInfo(registry, version);
  const limited = new Counter({
    name: "moorage_rate_limited_total",
    help: "Requests rejected by a rate limit, by handler and by what was counted.",
    labelNames: [HANDLER_LABEL, "kind"],
    registers: [registry],
  });
  const audit = auditMetrics(registry);
  const large = largeMetrics(registry);
  const schema = schemaMetrics(registry);
  const storage = storageMetrics(registry);
  const maker = makerOf(registry);
  const ofAreas = new Map(declared.map((each) => [each, each.register(maker)]));
  const common = processRegistry();
  const metrics = {
    http: goldenSignals({
      prefix: "moorage_http",
      noun: "request",
      what: "HTTP requests",
      label: HANDLER_LABEL,
      outcome: "status",
    }),
    rpc: goldenSignals({
      prefix: "moorage_rpc",
      noun: "request",
      what: "API calls",
      label: "method",
      outcome: "code",
      // Full names of methods: what is before the last dot is the service.
      groups: { label: "service", of: (method) => beforeDot(method, method.lastIndexOf(".")) },
    }),
    registry: registrySignals(registry),
    database: databaseSignals(registry),
    blobs: blobSignals(registry),
  };
  return {
    ...metrics,
    audit,
    large,
    schema,
    storage,
    limited: (handler, kind) => limited.inc({ [HANDLER_LABEL]: handler, kind }),
    of<T>(one: AreaMetrics<T>): T {
      if (!ofAreas.has(one)) throw new Error("metrics that no area declares");
      return ofAreas.get(one) as T;
    },
    snapshot: async () => {
      const ofProcess = (await common.getMetricsAsJSON()).map((metric) =>
        metric.name === START_TIME ? { ...metric, aggregator: "min" } : metric,
      );
      return [
        ...Object.values(metrics).flatMap(({ collect }) => collect()),
        ...(await registry.getMetricsAsJSON()),
        ...ofProcess,
      ];
    },
  };
}

function makerOf(registry: Registry): MetricMaker {
  const registers = [registry];
  return {
    counter: (options) => new Counter({ ...options, registers }),
    gauge: (options) => new Gauge({ ...options, registers }),
    histogram: (options) => new Histogram({ ...options, registers }),
  };
}

function setBuildInfo(registry: Registry, version: string): void {
  const info = new Gauge({
    name: "moorage_build_info",
    help: "Always 1; the labels say what runs.",
    labelNames: ["version", "node"],
    registers: [registry],
    aggregator: "first",
  });
  info.set({ version, node: process.versions.node }, 1);
}

function registrySignals(registry: Registry): Metrics["registry"] {
  const bytes = (name: string, help: string): Counter<"verb"> =>
    new Counter({ name, help, labelNames: ["verb"], registers: [registry] });
  const received = bytes("moorage_registry_received_bytes_total", "Bytes of request bodies that the registry read.");
  const sent = bytes("moorage_registry_sent_bytes_total", "Bytes of answers that the registry wrote.");
  return {
    ...goldenSignals({
      prefix: "moorage_registry",
      noun: "request",
      what: "registry requests",
      label: "verb",
      outcome: "status",
    }),
    received: (verb, count) => received.inc({ verb }, count),
    sent: (verb, count) => sent.inc({ verb }, count),
  };
}

function databaseSignals(registry: Registry): Metrics["database"] {
  return {
    ...goldenSignals({
      prefix: "moorage_database",
      noun: "transaction",
      what: "database transactions",
      label: "operation",
      outcome: "outcome",
      groups: { label: "area", of: (command) => beforeDot(command, command.indexOf(".")) },
    }),
    ...databaseMetrics(registry),
  };
}

function beforeDot(name: string, at: number): string {
  return at < 0 ? name : name.slice(0, at);
}

function blobSignals(registry: Registry): Metrics["blobs"] {
  const bytes = (name: string, help: string): Counter => new Counter({ name, help, registers: [registry] });
  const read = bytes("moorage_blobs_read_bytes_total", "Bytes read from the blob store.");
  const written = bytes("moorage_blobs_written_bytes_total", "Bytes written to the blob store.");
  return {
    ...goldenSignals({
      prefix: "moorage_blobs",
      noun: "operation",
      what: "blob store operations",
      label: "operation",
      outcome: "outcome",
    }),
    read: (count) => read.inc(count),
    written: (count) => written.inc(count),
    ...contentMetrics(registry),
  };
}

// prom-client leaves it out of a merge. The merge takes place even with a single process; it shows the start of the
// oldest.
const START_TIME = "process_start_time_seconds";

/**
 * Merges the metrics of several processes into one text: counters, histograms and gauges are added up, event loop lags
 * are averaged.
 */
export async function mergeSnapshots(snapshots: readonly Snapshot[]): Promise<string> {
  return await AggregatorRegistry.aggregate([...snapshots]).metrics();
}

let sharedRegistry: Registry | undefined;

/**
 * Metrics of the process. prom-client watches the event loop and the garbage collector for the life of the process, so
 * that they are registered only once.
 */
function processRegistry(): Registry {
  if (sharedRegistry !== undefined) return sharedRegistry;
  sharedRegistry = new Registry();
  collectDefaultMetrics({ register: sharedRegistry });
  for (const name of UNUSED) sharedRegistry.removeSingleMetric(name);
  return sharedRegistry;
}

// A third of the time series of a process: what is used and free in each part of V8's heap, and Node's handles by the
// names of its classes.
const UNUSED = [
  "nodejs_heap_space_size_used_bytes",
  "nodejs_heap_space_size_available_bytes",
  "nodejs_active_resources",
  "nodejs_active_resources_total",
  "nodejs_active_handles",
  "nodejs_active_handles_total",
  "nodejs_active_requests",
  "nodejs_active_requests_total",
];
