import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Request, RequestData } from "@moorage/kernel/core/http";

/**
 * Limits how long a body may take to arrive before its sender is authenticated: `late` is called then. Afterwards
 * uploads may take any time. Returns a function that ends the limit.
 */
export function limitBody(data: RequestData, timeoutMs: number, late: () => void): () => void {
  const timer = setTimeout(late, timeoutMs).unref();
  const stop = (): void => clearTimeout(timer);
  data.authenticated = stop;
  return stop;
}

/** Whether the request has a body that has not arrived yet. */
export function awaitsBody(request: Request): boolean {
  if (request.complete) return false;
  if ("stream" in request) return !request.stream.endAfterHeaders;
  return announcesBody(request.headers);
}

/** Whether an HTTP/1.1 request has a body, by its headers. Source: RFC 9112 §6.3. */
export function announcesBody(headers: IncomingHttpHeaders): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** Ends a stream whose message did not arrive in time. */
export function cutStream(stream: ServerHttp2Stream): void {
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
}
