import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http2";
import type { Logger } from "pino";
import { Code, MoorageError, unauthenticated } from "../errors.ts";
import type { Observed, RequestObserver } from "../observe/observed.ts";
import { logWhenDone } from "./access-log.ts";
import type { ClientAddress } from "./addresses.ts";
import { answerErrors } from "./answer.ts";
import type { AnswerStream } from "./grpc.ts";
import type { Handler, Request, Response, TakeStream } from "./listen.ts";

/** What the doors know of a request before they read it. */
export interface RequestData { requestId: string; remoteAddress: string; observed?: Observed }
type Handle = (request: Request, response: Response, data: RequestData) => Promise<void>;

/** The doors, each with what it takes. */
export interface Doors {
  /** Takes what speaks gRPC, gRPC-Web or Connect. */
  rpc: { matches(request: Request): boolean; handle: Handle; unary(headers: IncomingHttpHeaders): AnswerStream | undefined };
  /** Takes `/v2/` and below. */
  distribution: { matches(path: string): boolean; handle: Handle };
  /** Takes `/metrics` of those who may have it; for all others the path does not exist. */
  metrics?: { matches(path: string, request: Request, data: RequestData): boolean; handle: Handle };
  /** Takes exactly these paths. */
  paths: Readonly<Record<string, Handle>>;
  /** Takes everything else. */
  rest: { handle: Handle };
}

export interface FrontDoor {
  handle: Handler;
  /** Takes unary gRPC, which is most of what machines send; with the id, address, observation and log that `handle` gives. */
  takeStream: TakeStream;
  /** From now on requests are answered; before, they are told to come again. */
  open(doors: Doors): void;
  /** From now on `/readyz` says that the server goes away. Requests are still answered. */
  close(): void;
}

export interface FrontDoorOptions {
  log: Logger;
  addressOf: ClientAddress;
  errorDomain: string;
  /** Told of every request but those for health. */
  observer?: RequestObserver;
}

interface Way { door: string; handle: Handle }

/** Gives each request its id and its client's address, and sends it to its door. `/healthz` and `/readyz` are answered here. */
export function frontDoor({ log, addressOf, errorDomain, observer }: FrontDoorOptions): FrontDoor {
  const answerError = answerErrors(errorDomain, log);
  let doors: Doors | undefined;
  let closing = false;
  const starting: Way = {
    door: "none",
    handle: async (_request, response, data) => answerError(response, new MoorageError(Code.Unavailable, "Unavailable: the server is starting", { retryAfterMs: 1000 }), data),
  };
  const twoTokens: Way = { door: "none", handle: async (_request, response, data) => answerError(response, unauthenticated("there is more than one authorization header"), data) };
  const wayOf = (path: string, request: Request, data: RequestData): Way => {
    if (doors === undefined) return starting;
    if (hasTwoTokens(request.rawHeaders)) return twoTokens;
    const own = Object.hasOwn(doors.paths, path) ? doors.paths[path] : undefined;
    if (own !== undefined) return { door: path, handle: own };
    if (doors.distribution.matches(path)) return { door: "registry", handle: doors.distribution.handle };
    if (doors.rpc.matches(request)) return { door: "rpc", handle: doors.rpc.handle };
    if (doors.metrics?.matches(path, request, data) === true) return { door: "metrics", handle: doors.metrics.handle };
    return { door: "rest", handle: doors.rest.handle };
  };
  return {
    open: (opened) => { doors = opened; },
    close: () => { closing = true; },
    takeStream(stream, headers, rawHeaders) {
      const answer = doors?.rpc.unary(headers);
      if (answer === undefined || hasTwoTokens(rawHeaders)) return false;
      const data: RequestData = { requestId: randomUUID(), remoteAddress: addressOf(stream.session?.socket.remoteAddress ?? "", oneHeader(headers["x-forwarded-for"])) };
      const head = { method: headers[":method"], url: headers[":path"], headers };
      const observed = observer?.begin(head, "rpc", data);
      if (observed !== undefined) data.observed = observed;
      logWhenDone(log, head, stream, data);
      if (observed === undefined) void answer(stream, headers, data);
      else void observed.within(() => answer(stream, headers, data)).then(() => observed.end(stream.headersSent ? "200" : "aborted"));
      return true;
    },
    async handle(request, response) {
      const data: RequestData = { requestId: randomUUID(), remoteAddress: addressOf(request.socket.remoteAddress ?? "", oneHeader(request.headers["x-forwarded-for"])) };
      response.setHeader("x-request-id", data.requestId);
      const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
      if (path === "/healthz" || path === "/readyz") logWhenDone(log, request, response, data);
      if (path === "/healthz") return answerPlain(response, 200, "ok");
      if (path === "/readyz") return answerPlain(response, doors !== undefined && !closing ? 200 : 503, doors !== undefined && !closing ? "ready" : "not ready");
      const { door, handle } = wayOf(path, request, data);
      const observed = observer?.begin(request, door, data);
      if (observed !== undefined) data.observed = observed;
      logWhenDone(log, request, response, data);
      try {
        await (observed === undefined ? handle(request, response, data) : observed.within(() => handle(request, response, data)));
      } catch (error) {
        answerError(response, error, data);
      } finally {
        observed?.end(response.headersSent ? String(response.statusCode) : "aborted");
      }
    },
  };
}

// Node keeps the first of two and says nothing; which of them a proxy looked at nobody knows. Source: RFC 6750 §2.
function hasTwoTokens(rawHeaders: readonly string[]): boolean {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.length === 13 && rawHeaders[at]?.toLowerCase() === "authorization") found++;
  return found > 1;
}

function oneHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}

function answerPlain(response: Response, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.setHeader("cache-control", "no-store");
  response.setHeader("content-length", Buffer.byteLength(text));
  response.end(text);
}
