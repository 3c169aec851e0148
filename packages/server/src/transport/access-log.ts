import type { Logger } from "pino";
import type { Observed } from "../observe/observed.ts";
import type { Request, Response } from "./listen.ts";

/** Writes one line for each request when its answer has gone, or its client has. Tokens and query strings are not in it: `rpc` is the API method, `verb` what was asked of the registry. */
export function logWhenDone(log: Logger, request: Request, response: Response, { requestId, remoteAddress, observed }: { requestId: string; remoteAddress: string; observed?: Observed }): void {
  if (!log.isLevelEnabled("info")) return;
  const startedAt = performance.now();
  const path = (request.url ?? "").split("?", 1)[0];
  response.once("close", () => {
    const durationMs = Math.round((performance.now() - startedAt) * 100) / 100;
    const fields = {
      requestId, traceId: observed?.traceId, remoteAddress, method: request.method, path, rpc: observed?.rpc, verb: observed?.verb,
      status: response.statusCode, durationMs, userAgent: request.headers["user-agent"],
    };
    if (response.statusCode >= 500) log.error(fields, "request");
    else log.info(fields, "request");
  });
}
