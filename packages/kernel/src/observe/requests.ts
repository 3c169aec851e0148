import { codeName } from "./codes.ts";
import type { Series } from "./golden-signals.ts";
import type { Metrics } from "./metrics.ts";
import type { Observed, RequestObserver } from "../core/observer.ts";
import { traceContext } from "./trace-context.ts";
import { parseTraceparent } from "./traceparent.ts";
import type { RequestTrace, Tracer } from "./traces.ts";

/** Counts and times each request, and traces it if there is a tracer. */
export function requestObserver(metrics: Metrics, tracer: Tracer | undefined): RequestObserver {
  return {
    begin(head, handler, data) {
      const header = head.headers["traceparent"];
      const parent = typeof header === "string" ? parseTraceparent(header) : undefined;
      const trace = tracer?.begin(head, data, parent);
      return new ObservedRequest(metrics, metrics.http.begin(handler), trace, trace?.traceId ?? parent?.traceId);
    },
  };
}

interface Running {
  series: Series;
  startedMs: number;
}

// A class for its prototype: one object is made for every request, and closures for each function would cost more than
// the counting itself.
class ObservedRequest implements Observed {
  readonly traceId: string | undefined;
  receivedBytes = 0;
  sentBytes = 0;
  readonly #metrics: Metrics;
  readonly #trace: RequestTrace | undefined;
  readonly #http: Running;
  #rpc: Running | undefined;
  #verb: Running | undefined;
  #code: number | undefined;

  constructor(metrics: Metrics, http: Series, trace: RequestTrace | undefined, traceId: string | undefined) {
    this.#metrics = metrics;
    this.#http = { series: http, startedMs: performance.now() };
    this.#trace = trace;
    this.traceId = traceId;
  }

  get rpc(): string | undefined {
    return this.#rpc?.series.name;
  }

  get verb(): string | undefined {
    return this.#verb?.series.name;
  }

  get code(): number | undefined {
    return this.#code;
  }

  beginRpc(method: string): void {
    this.#rpc ??= { series: this.#metrics.rpc.begin(method), startedMs: performance.now() };
  }

  endRpc(code: number): void {
    if (this.#rpc === undefined || this.#code !== undefined) return;
    this.#code = code;
    this.#metrics.rpc.end(this.#rpc.series, codeName(code), secondsSince(this.#rpc.startedMs));
  }

  beginVerb(verb: string): void {
    this.#verb ??= { series: this.#metrics.registry.begin(verb), startedMs: performance.now() };
  }

  within<T>(work: () => T): T {
    if (this.traceId === undefined) return work();
    return traceContext.run({ traceId: this.traceId, span: this.#trace?.span }, work);
  }

  end(status: string): void {
    // Neither a handler nor the library reported a code: the client closed the connection during the request.
    this.endRpc(CANCELLED);
    if (this.#verb !== undefined) {
      const { series, startedMs } = this.#verb;
      this.#metrics.registry.end(series, status, secondsSince(startedMs));
      if (this.receivedBytes > 0) this.#metrics.registry.received(series.name, this.receivedBytes);
      if (this.sentBytes > 0) this.#metrics.registry.sent(series.name, this.sentBytes);
    }
    this.#metrics.http.end(this.#http.series, status, secondsSince(this.#http.startedMs));
    this.#trace?.end({ rpc: this.rpc, verb: this.verb, code: this.#code, status });
  }
}

const CANCELLED = 1;

function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1000;
}
