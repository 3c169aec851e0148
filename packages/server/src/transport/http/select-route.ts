import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Request, RequestData, RequestHandler } from "@moorage/kernel/core/http";

/** The handlers of the port, each with the requests that it takes. */
export interface Handlers {
  /** Takes gRPC, gRPC-Web and Connect. */
  rpc: {
    matches(request: Request): boolean;
    handle: RequestHandler;
    unary(headers: IncomingHttpHeaders): AnswerStream | undefined;
  };
  /** Takes `/v2/` and below. */
  distribution: { matches(path: string): boolean; handle: RequestHandler };
  /** Takes `/npm/`, `/pypi/` and `/maven/`, and below. */
  libraries?: { matches(path: string): boolean; handle: RequestHandler };
  /** Takes `/metrics` from clients that may read it; for all others the path does not exist. */
  metrics?: { matches(path: string, request: Request, data: RequestData): boolean; handle: RequestHandler };
  /** Endpoints of the platform, by exact path; `/name/*` takes all paths below `/name/`. */
  paths: Readonly<Record<string, RequestHandler>>;
  /** Endpoints by which clients of the registry get tokens, by exact path; their errors have the registry's form. */
  registryPaths: Readonly<Record<string, RequestHandler>>;
  /** Takes browsers' requests for the pages of the console. */
  pages?: { matches(path: string, request: Request): boolean; handle: RequestHandler } | undefined;
  /** Takes everything else. */
  rest: { handle: RequestHandler };
  /** Called for requests with more than one Authorization header, which no handler takes. */
  twoTokens?(data: RequestData, request: Request): void;
}

/** The handler of a request. */
export interface Route {
  /** From a bounded set of names: a label of metrics. */
  name: string;
  handle: RequestHandler;
  /** Set where the handler itself answers a rejection by a rate limit, in its protocol's form. */
  answersRejection?: true;
  /** Set for pulls of images and libraries, and for the tokens that clients get for them. */
  isPull?: boolean;
  /** Set where the handler itself sends the request's id, with its other headers. */
  sendsRequestId?: true;
}

/** The handler that takes the request, by its path, its content type and its client's address. */
export function selectRoute(handlers: Handlers, path: string, request: Request, data: RequestData): Route {
  const { paths, registryPaths, distribution, libraries, rpc, metrics, pages, rest } = handlers;
  const endpoint = Object.hasOwn(paths, path) ? paths[path] : undefined;
  if (endpoint !== undefined) return { name: path, handle: endpoint };
  for (const [start, route] of treesOf(paths)) if (path.startsWith(start)) return route;
  const registryEndpoint = Object.hasOwn(registryPaths, path) ? registryPaths[path] : undefined;
  if (registryEndpoint !== undefined)
    return { name: path, handle: registryEndpoint, answersRejection: true, sendsRequestId: true, isPull: true };
  const isPull = request.method === "GET" || request.method === "HEAD";
  if (distribution.matches(path))
    return { name: "registry", handle: distribution.handle, answersRejection: true, sendsRequestId: true, isPull };
  if (libraries?.matches(path) === true)
    return { name: "libraries", handle: libraries.handle, answersRejection: true, sendsRequestId: true, isPull };
  if (rpc.matches(request)) return { name: "rpc", handle: rpc.handle, answersRejection: true };
  if (metrics?.matches(path, request, data) === true) return { name: "metrics", handle: metrics.handle };
  if (pages?.matches(path, request) === true) return { name: "console", handle: pages.handle };
  return { name: "rest", handle: rest.handle, sendsRequestId: true };
}

const knownTrees = new WeakMap<Handlers["paths"], readonly [start: string, route: Route][]>();

function treesOf(paths: Handlers["paths"]): readonly [start: string, route: Route][] {
  const known = knownTrees.get(paths);
  if (known !== undefined) return known;
  const trees = Object.entries(paths)
    .filter(([name]) => name.endsWith("/*"))
    .map(([name, handle]): [string, Route] => [name.slice(0, -1), { name, handle }]);
  knownTrees.set(paths, trees);
  return trees;
}

/**
 * Whether the request has more than one Authorization header. Node keeps the first and drops the others, and a proxy
 * may have checked another one. Source: RFC 6750 §2.
 */
export function hasTwoTokens(rawHeaders: readonly string[]): boolean {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 13 && rawHeaders[at]?.toLowerCase() === "authorization") found++;
  return found > 1;
}

/** Answers the call on a stream completely. Never rejects. The port handles the stream's errors. */
export type AnswerStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  data: RequestData,
) => Promise<void>;
