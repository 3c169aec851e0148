import type { OutgoingHttpHeaders } from "node:http2";
import type { Logger } from "pino";
import type { Observed, ObservedHead } from "@moorage/kernel/core/observer";

/** An answer under way: a response, or a stream, whose status is in the headers it has sent. */
interface Answer {
  statusCode?: number;
  sentHeaders?: OutgoingHttpHeaders | undefined;
  once(event: "close", listener: () => void): unknown;
}

/**
 * An error is what the server did wrong, a warning what it or a system behind it could not do. All else is the
 * client's, whatever the status: anybody may call a method that does not exist (501), or set a
 * deadline that is over (504).
 */
function levelOf(status: number | undefined): "error" | "warn" | "info" {
  if (status === 500) return "error";
  return status === 502 || status === 503 ? "warn" : "info";
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
    log[levelOf(status)](fields, "request");
  });
}
