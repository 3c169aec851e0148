import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import type { BlobStore } from "../blobs/index.ts";
import type { Config } from "../config/index.ts";
import type { Transactor } from "../core/transactor.ts";
import type { AuditMetrics } from "./audit-metrics.ts";
import type { DatabaseMetrics } from "./database-metrics.ts";
import type { ContentMetrics } from "./content-metrics.ts";
import { createMetrics, type Metrics, type Snapshot } from "./metrics.ts";
import type { LargeMetrics } from "./large-metrics.ts";
import type { AreaMetrics } from "../core/metrics.ts";
import type { RequestObserver } from "../core/observer.ts";
import type { SchemaMetrics } from "./schema-metrics.ts";
import type { StorageMetrics } from "./storage-metrics.ts";
import { requestObserver } from "./requests.ts";
import { observeBlobs, observeTransactor } from "./instrument.ts";
import { openTracer } from "./traces.ts";

export type { ContentMetrics } from "./content-metrics.ts";
export { createLog } from "./log.ts";
export { mergeSnapshots, METRICS_CONTENT_TYPE, type Snapshot } from "./metrics.ts";
export type { StorageMetrics } from "./storage-metrics.ts";

/** The metrics and traces of one server. */
export interface Observation {
  requests: RequestObserver;
  /** Metrics that the database engine reports. */
  database: DatabaseMetrics;
  limited: Metrics["limited"];
  audit: AuditMetrics;
  large: LargeMetrics;
  /** The version of this program. */
  version: string;
  schema: SchemaMetrics;
  storage: StorageMetrics;
  /** Wraps a transactor, so that its work is counted, timed and traced. `failed` is called with each error. */
  transactor(transactor: Transactor, failed?: (error: unknown) => void): Transactor;
  blobs(store: BlobStore, failed?: (error: unknown) => void): BlobStore;
  /** Stored content that is not as it should be. */
  content: ContentMetrics;
  /** The metrics that an area declares. */
  of: Metrics["of"];
  /** This server's metrics. */
  snapshot(): Promise<Snapshot>;
  /** Sends the remaining traces, within three seconds. */
  close(): Promise<void>;
}

/** Starts metrics, those that areas declare among them, and tracing if the settings enable it. */
export async function openObservation(
  { tracesUrl, tracesSample }: Pick<Config, "tracesUrl" | "tracesSample">,
  log: Logger,
  declared: readonly AreaMetrics<unknown>[],
): Promise<Observation> {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  const metrics = createMetrics(version, declared);
  const tracer =
    tracesUrl === "" ? undefined : await openTracer({ url: tracesUrl, sample: tracesSample, version, log });
  return {
    version,
    requests: requestObserver(metrics, tracer),
    database: metrics.database,
    limited: metrics.limited,
    audit: metrics.audit,
    large: metrics.large,
    schema: metrics.schema,
    storage: metrics.storage,
    transactor: (transactor, failed) => observeTransactor(transactor, metrics, { tracer, failed }),
    content: metrics.blobs,
    blobs: (store, failed) => observeBlobs(store, metrics, { tracer, failed }),
    of: (one) => metrics.of(one),
    snapshot: () => metrics.snapshot(),
    close: async () => await tracer?.close(),
  };
}
