import type { Request, Response } from "@moorage/kernel/core/http";

export interface MetricsEndpointOptions {
  /** Whether a client with this address may read the metrics. */
  mayRead(address: string): boolean;
  /** The metrics as text, of all processes that serve this port. */
  collect(): Promise<string>;
  contentType: string;
}

export interface MetricsEndpoint {
  matches(path: string, request: Request, data: { remoteAddress: string }): boolean;
  handle(request: Request, response: Response): Promise<void>;
}

/**
 * GET of `/metrics` in Prometheus' text format. A request that was forwarded by a proxy that is not trusted gets
 * nothing: the proxy's network may be allowed to read while its client is not.
 */
export function metricsEndpoint({ mayRead, collect, contentType }: MetricsEndpointOptions): MetricsEndpoint {
  return {
    matches(path, request, { remoteAddress }) {
      if (path !== "/metrics" || (request.method !== "GET" && request.method !== "HEAD") || !mayRead(remoteAddress))
        return false;
      return !isForwarded(request) || !isSocketOf(request, remoteAddress);
    },
    async handle(request, response) {
      const text = await collect();
      response.statusCode = 200;
      response.setHeader("content-type", contentType);
      response.setHeader("cache-control", "no-store");
      response.setHeader("content-length", Buffer.byteLength(text));
      if (request.method === "HEAD") response.end();
      else response.end(text);
    },
  };
}

function isForwarded({ headers }: Request): boolean {
  return headers["x-forwarded-for"] !== undefined || headers["forwarded"] !== undefined || headers["via"] !== undefined;
}

function isSocketOf({ socket }: Request, address: string): boolean {
  return socket.remoteAddress === address || socket.remoteAddress === `::ffff:${address}`;
}
