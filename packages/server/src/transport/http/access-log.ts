import type { OutgoingHttpHeaders } from "node:http2";
import type { Logger } from "pino";
import type { Observed, ObservedHead } from "../../core/observed.ts";

/** An answer under way: a response, or a stream, whose status is in the headers it has sent. */
interface Answer {
  statusCode?: number;
  sentHeaders?: OutgoingHttpHeaders | undefined;
  once(event: "close", listener: () => void): unknown;
}

/**
 * Writes one log line for each request when its answer is complete or its client has gone. Tokens and query strings are
 * left out: `rpc` is the API method, `verb` the registry's operation.
 */
export function logWhenDone(
  log: Logger,
  request: ObservedHead,
  answer: Answer,
  { requestId, remoteAddress, observed }: { requestId: string; remoteAddress: string; observed?: Observed },
): void {
  if (!log.isLevelEnabled("info")) return;
  const startedAt = performance.now();
  const path = (request.url ?? "").split("?", 1)[0];
  answer.once("close", () => {
    const sent = answer.sentHeaders?.[":status"];
    const status = answer.statusCode ?? (sent === undefined ? undefined : Number(sent));
    const durationMs = Math.round((performance.now() - startedAt) * 100) / 100;
    const fields = {
      requestId,
      traceId: observed?.traceId,
      remoteAddress,
      method: request.method,
      path,
      rpc: observed?.rpc,
      verb: observed?.verb,
      status,
      durationMs,
      userAgent: request.headers["user-agent"],
    };
    if (status !== undefined && status >= 500) log.error(fields, "request");
    else log.info(fields, "request");
  });
}
