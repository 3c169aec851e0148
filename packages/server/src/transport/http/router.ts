import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http2";
import type { Logger } from "pino";
import { Code, MoorageError, unauthenticated } from "../../errors.ts";
import type { Request, RequestData, RequestHandler, Response } from "../../core/http.ts";
import type { RequestObserver } from "../../core/observed.ts";
import { logWhenDone } from "./access-log.ts";
import type { Admission } from "./rate-limits.ts";
import type { ClientAddress } from "./client-address.ts";
import { answerErrors } from "./send-error.ts";
import type { AnswerStream } from "../rpc/grpc.ts";
import type { Handler, TakeStream } from "./listen.ts";

/** The doors, each with what it takes. */
export interface Handlers {
  /** Takes what speaks gRPC, gRPC-Web or Connect. */
  rpc: {
    matches(request: Request): boolean;
    handle: RequestHandler;
    unary(headers: IncomingHttpHeaders): AnswerStream | undefined;
  };
  /** Takes `/v2/` and below. */
  distribution: { matches(path: string): boolean; handle: RequestHandler };
  /** Takes `/metrics` of those who may have it; for all others the path does not exist. */
  metrics?: { matches(path: string, request: Request, data: RequestData): boolean; handle: RequestHandler };
  /** Takes exactly these paths. */
  paths: Readonly<Record<string, RequestHandler>>;
  /** The same for what belongs to the registry and answers as it does. */
  registryPaths: Readonly<Record<string, RequestHandler>>;
  /** Takes everything else. */
  rest: { handle: RequestHandler };
  /** Told of requests that show two tokens, which no door takes. */
  twoTokens?(data: RequestData, request: Request): void;
}

export interface Router {
  handle: Handler;
  /**
   * Takes unary gRPC, which is most of what machines send; with the id, address, observation and log that `handle`
   * gives.
   */
  takeStream: TakeStream;
  /** From now on requests are answered; before, they are told to come again. */
  open(handlers: Handlers): void;
  /** From now on `/readyz` says that the server goes away. Requests are still answered. */
  close(): void;
}

export interface RouterOptions {
  log: Logger;
  addressOf: ClientAddress;
  errorDomain: string;
  /** Absent: nobody can send too much. */
  admission?: Admission | undefined;
  /** Told of every request but those for health. */
  observer?: RequestObserver;
}

/** `refuses`: the door answers itself what is refused, in its own form. */
interface Way {
  door: string;
  handle: RequestHandler;
  refuses?: true;
}

const NOT_COUNTED = "/grpc.health.v1.Health/";

/**
 * Gives each request its id and its client's address, and sends it to its door. `/healthz` and `/readyz` are answered
 * here.
 */
export function createRouter({ log, addressOf, errorDomain, admission, observer }: RouterOptions): Router {
  const answerError = answerErrors(errorDomain, log);
  let handlers: Handlers | undefined;
  let closing = false;
  const starting: Way = {
    door: "none",
    handle: async (_request, response, data) =>
      answerError(
        response,
        new MoorageError(Code.Unavailable, "Unavailable: the server is starting", { retryAfterMs: 1000 }),
        data,
      ),
  };
  const twoTokens: Way = {
    door: "none",
    handle: async (_request, response, data) =>
      answerError(response, unauthenticated("there is more than one authorization header"), data),
  };
  const wayOf = (path: string, request: Request, data: RequestData): Way => {
    if (handlers === undefined) return starting;
    if (hasTwoTokens(request.rawHeaders)) {
      handlers.twoTokens?.(data, request);
      return twoTokens;
    }
    const own = Object.hasOwn(handlers.paths, path) ? handlers.paths[path] : undefined;
    if (own !== undefined) return { door: path, handle: own };
    const ofRegistry = Object.hasOwn(handlers.registryPaths, path) ? handlers.registryPaths[path] : undefined;
    if (ofRegistry !== undefined) return { door: path, handle: ofRegistry, refuses: true };
    if (handlers.distribution.matches(path))
      return { door: "registry", handle: handlers.distribution.handle, refuses: true };
    if (handlers.rpc.matches(request)) return { door: "rpc", handle: handlers.rpc.handle, refuses: true };
    if (handlers.metrics?.matches(path, request, data) === true)
      return { door: "metrics", handle: handlers.metrics.handle };
    return { door: "rest", handle: handlers.rest.handle };
  };
  const count = (data: RequestData, door: string): void => {
    if (admission === undefined) return;
    data.refused = admission.address(door, data.remoteAddress);
    data.admit = admission.callers(door);
  };
  // At the doors of the issuer what is shown stands in the parameters as well, and is refused with 400.
  const countFailure = (data: RequestData, door: string, isShown: boolean, status?: number): void => {
    const failed =
      data.observed?.code === Code.Unauthenticated || status === 401
        ? isShown || door.startsWith("/")
        : status === 400 && door.startsWith("/");
    if (failed) admission?.failed(data.remoteAddress);
  };
  return {
    open: (opened) => {
      handlers = opened;
    },
    close: () => {
      closing = true;
    },
    takeStream(stream, headers, rawHeaders) {
      const answer = handlers?.rpc.unary(headers);
      if (answer === undefined || hasTwoTokens(rawHeaders)) return false;
      const data: RequestData = {
        requestId: randomUUID(),
        remoteAddress: addressOf(stream.session?.socket.remoteAddress ?? "", oneHeader(headers["x-forwarded-for"])),
      };
      const head = { method: headers[":method"], url: headers[":path"], headers };
      const observed = observer?.begin(head, "rpc", data);
      if (observed !== undefined) data.observed = observed;
      logWhenDone(log, head, stream, data);
      count(data, "rpc");
      const answered =
        observed === undefined ? answer(stream, headers, data) : observed.within(() => answer(stream, headers, data));
      void answered.then(() => {
        countFailure(data, "rpc", headers.authorization !== undefined);
        observed?.end(stream.headersSent ? "200" : "aborted");
      });
      return true;
    },
    async handle(request, response) {
      const data: RequestData = {
        requestId: randomUUID(),
        remoteAddress: addressOf(request.socket.remoteAddress ?? "", oneHeader(request.headers["x-forwarded-for"])),
      };
      response.setHeader("x-request-id", data.requestId);
      const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
      if (path === "/healthz" || path === "/readyz") logWhenDone(log, request, response, data);
      if (path === "/healthz") return answerPlain(response, 200, "ok");
      if (path === "/readyz")
        return answerPlain(
          response,
          handlers !== undefined && !closing ? 200 : 503,
          handlers !== undefined && !closing ? "ready" : "not ready",
        );
      const { door, handle, refuses } = wayOf(path, request, data);
      if (door !== "metrics" && !path.startsWith(NOT_COUNTED)) count(data, door);
      const observed = observer?.begin(request, door, data);
      if (observed !== undefined) data.observed = observed;
      logWhenDone(log, request, response, data);
      try {
        if (data.refused !== undefined && refuses !== true) throw data.refused;
        await (observed === undefined
          ? handle(request, response, data)
          : observed.within(() => handle(request, response, data)));
      } catch (error) {
        answerError(response, error, data);
      } finally {
        countFailure(data, door, request.headers.authorization !== undefined, response.statusCode);
        observed?.end(response.headersSent ? String(response.statusCode) : "aborted");
      }
    },
  };
}

// Node keeps the first of two and says nothing; which of them a proxy looked at nobody knows. Source: RFC 6750 §2.
function hasTwoTokens(rawHeaders: readonly string[]): boolean {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 13 && rawHeaders[at]?.toLowerCase() === "authorization") found++;
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
