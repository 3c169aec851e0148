import type { Logger } from "pino";
import type { Request, Response } from "./listen.ts";

/** Writes one line for each request when its answer has gone, or its client has. Tokens and query strings are not in it. */
export function logWhenDone(log: Logger, request: Request, response: Response, data: { requestId: string; remoteAddress: string }): void {
  if (!log.isLevelEnabled("info")) return;
  const startedAt = performance.now();
  const path = (request.url ?? "").split("?", 1)[0];
  response.once("close", () => {
    const fields = { ...data, method: request.method, path, status: response.statusCode, durationMs: Math.round((performance.now() - startedAt) * 100) / 100, userAgent: request.headers["user-agent"] };
    if (response.statusCode >= 500) log.error(fields, "request");
    else log.info(fields, "request");
  });
}
