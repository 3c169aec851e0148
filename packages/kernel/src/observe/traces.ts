import type { Attributes, Context, Span, Tracer as SpanMaker } from "@opentelemetry/api";
import type { Logger } from "pino";
import type { ObservedHead } from "../core/observer.ts";
import { spanExporter } from "./span-exporter.ts";
import { traceContext } from "./trace-context.ts";
import type { TraceParent } from "./traceparent.ts";

/** How a request ended. Fields without a value are undefined. */
interface RequestEnd {
  rpc?: string | undefined;
  verb?: string | undefined;
  code?: number | undefined;
  status: string;
}

/** The span of a request. */
export interface RequestTrace {
  readonly traceId: string;
  readonly span: Span;
  end(end: RequestEnd): void;
}

/** Creates spans and exports them in batches. It never throws, blocks or fails the work it observes. */
export interface Tracer {
  begin(
    head: ObservedHead,
    data: { requestId: string; remoteAddress: string },
    parent: TraceParent | undefined,
  ): RequestTrace;
  /** Runs the work in a child span of the current request's; without a recorded request span, only runs the work. */
  child<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>;
  /** Exports the remaining spans, within three seconds. */
  close(): Promise<void>;
}

export interface TracerOptions {
  /** The OTLP/HTTP receiver's full URL. */
  url: string;
  /** The share of requests that are sampled if the caller's traceparent does not decide it, 0 to 1. */
  sample: number;
  version: string;
  log: Pick<Logger, "warn">;
}

const CLOSE_TIMEOUT_MS = 3_000;
// UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS: the semantic conventions treat these as
// errors of the server.
const SERVER_FAULTS = new Set([2, 4, 12, 13, 14, 15]);
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"]);

/**
 * Loads OpenTelemetry, which no other module imports, and creates a tracer. Source of the names: OpenTelemetry's
 * semantic conventions.
 */
export async function openTracer({ url, sample, version, log }: TracerOptions): Promise<Tracer> {
  const [api, sdk, { resourceFromAttributes }, { OTLPTraceExporter }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/exporter-trace-otlp-http"),
  ]);
  const exporter = spanExporter(new OTLPTraceExporter({ url, timeoutMillis: 5_000, concurrencyLimit: 2 }), log);
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      "service.name": "moorage",
      "service.version": version,
      "service.instance.id": crypto.randomUUID(),
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sample) }),
    spanLimits: { attributeValueLengthLimit: 1024 },
    // Spans that do not fit into the queue are dropped.
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: 4096,
        maxExportBatchSize: 512,
        scheduledDelayMillis: 1_000,
        exportTimeoutMillis: 6_000,
      }),
    ],
  });
  const spans: SpanMaker = provider.getTracer("moorage", version);
  const contextOf = (parent: TraceParent | undefined): Context =>
    parent === undefined
      ? api.ROOT_CONTEXT
      : api.trace.setSpanContext(api.ROOT_CONTEXT, {
          traceId: parent.traceId,
          spanId: parent.spanId,
          traceFlags: parent.flags,
          isRemote: true,
        });
  const failed = (span: Span): void => void span.setStatus({ code: api.SpanStatusCode.ERROR });

  return {
    begin(head, data, parent) {
      const method = METHODS.has(head.method ?? "") ? (head.method ?? "") : "_OTHER";
      const path = (head.url ?? "").split("?", 1)[0] ?? "";
      const attributes = {
        "http.request.method": method,
        "url.path": path,
        "client.address": data.remoteAddress,
        "moorage.request_id": data.requestId,
      };
      const span = spans.startSpan(method, { kind: api.SpanKind.SERVER, attributes }, contextOf(parent));
      const userAgent = head.headers["user-agent"];
      if (typeof userAgent === "string") span.setAttribute("user_agent.original", userAgent);
      return {
        traceId: span.spanContext().traceId,
        span,
        end({ rpc, verb, code, status }) {
          if (span.isRecording()) describe(span, { rpc, verb, code, status });
          if (status === "aborted" || Number(status) >= 500 || SERVER_FAULTS.has(code ?? 0)) failed(span);
          span.end();
        },
      };
    },
    async child(name, attributes, work) {
      const parent = traceContext.getStore()?.span;
      if (parent === undefined || !parent.isRecording()) return await work();
      const span = spans.startSpan(
        name,
        { kind: api.SpanKind.CLIENT, attributes },
        api.trace.setSpan(api.ROOT_CONTEXT, parent),
      );
      try {
        return await work();
      } catch (error) {
        failed(span);
        throw error;
      } finally {
        span.end();
      }
    },
    async close() {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

function describe(span: Span, { rpc, verb, code, status }: RequestEnd): void {
  if (status !== "aborted") span.setAttribute("http.response.status_code", Number(status));
  if (rpc !== undefined) {
    const cut = rpc.lastIndexOf(".");
    span.updateName(rpc).setAttributes({
      "rpc.system": "grpc",
      "rpc.service": rpc.slice(0, cut),
      "rpc.method": rpc.slice(cut + 1),
      "rpc.grpc.status_code": code ?? 0,
    });
  }
  if (verb !== undefined) span.updateName(verb).setAttribute("moorage.registry.verb", verb);
}
