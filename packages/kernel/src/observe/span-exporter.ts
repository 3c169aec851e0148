import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";

const WARN_EVERY_MS = 60_000;

/** Wraps the exporter to log a warning, at most once a minute, while it fails: the library itself logs nothing. */
export function spanExporter(exporter: SpanExporter, log: Pick<Logger, "warn">): SpanExporter {
  let warnedMs = Number.NEGATIVE_INFINITY;
  let lost = 0;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        // 0 is success.
        if (result.code !== 0) {
          lost += spans.length;
          if (performance.now() - warnedMs >= WARN_EVERY_MS) {
            warnedMs = performance.now();
            log.warn({ err: result.error, lostSpans: lost }, "traces could not be sent");
            lost = 0;
          }
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => await exporter.forceFlush?.(),
  };
}
