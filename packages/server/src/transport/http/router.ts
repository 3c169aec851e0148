import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Logger } from "pino";
import { Code, invalidArgument, MoorageError, unauthenticated } from "@moorage/kernel/errors";
import { arrives } from "@moorage/kernel/lib/arrival";
import { attempt, type Awaitable, lastly } from "@moorage/kernel/lib/awaitable";
import type { Request, RequestData, RequestHandler, Response } from "@moorage/kernel/core/http";
import type { Observed, ObservedHead, RequestObserver } from "@moorage/kernel/core/observer";
import { logWhenDone } from "./access-log.ts";
import { awaitsBody, cutStream, limitBody } from "./body-deadline.ts";
import type { ClientAddress } from "./client-address.ts";
import type { TakeStream } from "./listen.ts";
import type { Handler } from "./http1.ts";
import type { PullTurns } from "./pull-turns.ts";
import type { Admission } from "./rate-limits.ts";
import { type Handlers, hasTwoTokens, type Route, selectRoute } from "./select-route.ts";
import { answerErrors } from "./send-error.ts";

export interface Router {
  handle: Handler;
  /**
   * Takes unary gRPC, which is most of what machines send, with the same request id, address, observation and log line
   * as `handle`.
   */
  takeStream: TakeStream;
  /** From now on the handlers answer; until then every request is answered with UNAVAILABLE and a retry delay. */
  open(handlers: Handlers): void;
}

/** What `/healthz` and `/readyz` say: each is undefined when there is nothing to say. */
interface RouterHealth {
  /** What keeps the server from being ready, in a few words. */
  problem(): string | undefined;
  /** What a restart would mend. */
  defect(): string | undefined;
  /** What is worth a look, though the server is ready. */
  notice(): string | undefined;
}

export interface RouterOptions {
  log: Logger;
  addressOf: ClientAddress;
  errorDomain: string;
  /** Undefined when there are no rate limits. */
  admission?: Admission | undefined;
  /** The queue of pulls. Defaults to none: then they wait for nothing. */
  pullTurns?: PullTurns | undefined;
  /** Defaults to nothing that is wrong. */
  health?: RouterHealth;
  /** How long a body may take to arrive before its sender is authenticated. Defaults to 30 seconds. */
  bodyTimeoutMs?: number;
  /** Observes every request but `/healthz` and `/readyz`. */
  observer?: RequestObserver;
}

/** What a router works with, and its state: `handlers`. */
interface Routing extends RouterOptions {
  answerError: ReturnType<typeof answerErrors>;
  /** Undefined until the server has started. */
  handlers: Handlers | undefined;
}

const DEFAULT_BODY_TIMEOUT_MS = 30_000;
const UNLIMITED_PATHS = "/grpc.health.v1.Health/";

/**
 * Gives each request its id and its client's address, applies the rate limits, and passes the request to its handler.
 * The router itself answers `/healthz` and `/readyz`.
 */
export function createRouter(options: RouterOptions): Router {
  const { errorDomain, log } = options;
  const routing: Routing = {
    ...options,
    answerError: answerErrors(errorDomain, log),
    handlers: undefined,
  };
  return {
    handle: (request, response) => arrives(() => handleRequest(routing, request, response)),
    takeStream: (stream, headers, rawHeaders) => arrives(() => takeUnary(routing, stream, headers, rawHeaders)),
    open: (handlers) => {
      routing.handlers = handlers;
    },
  };
}

function handleRequest(routing: Routing, request: Request, response: Response): Awaitable<void> {
  const { log, observer, answerError } = routing;
  const data = identify(routing, request.socket.remoteAddress, request.headers);
  data.hasLeft = () => hasLeft(request);
  const path = pathOf(request.url ?? "/");
  if (path === "/healthz" || path === "/readyz") {
    response.setHeader("x-request-id", data.requestId);
    logWhenDone(log, request, response, data);
    return answerHealth(routing, path, response);
  }
  const { name, handle, answersRejection, sendsRequestId, isPull = false } = routeOf(routing, path, request, data);
  if (sendsRequestId !== true) response.setHeader("x-request-id", data.requestId);
  if (isPull) limitPull(routing, data, name, request);
  else if (name !== "metrics" && !path.startsWith(UNLIMITED_PATHS)) limit(routing, data, name);
  const observed = observe(observer, request, name, data);
  logWhenDone(log, request, response, data);
  const arrived = awaitsBody(request) ? limitBodyOf(routing, request, response, data) : undefined;
  const answer = (): Awaitable<void> =>
    attempt(
      () => {
        if (data.rejection !== undefined && answersRejection !== true) throw data.rejection;
        return within(observed, () => handle(request, response, data));
      },
      (error) => answerError(response, error, data),
    );
  return lastly(answer, () => {
    arrived?.();
    data.turn?.end();
    const { authorization } = request.headers;
    if (isFailedAuthentication(name, data, authorization, response.statusCode))
      routing.admission?.failed(data.remoteAddress, !isPull);
    observed?.end(response.headersSent ? String(response.statusCode) : "aborted");
  });
}

function pathOf(url: string): string {
  const mark = url.indexOf("?");
  return mark < 0 ? url : url.slice(0, mark);
}

/** Answers and ends a request whose body is late. */
function limitBodyOf(
  { answerError, bodyTimeoutMs = DEFAULT_BODY_TIMEOUT_MS }: Routing,
  request: Request,
  response: Response,
  data: RequestData,
): () => void {
  return limitBody(data, bodyTimeoutMs, () => {
    if (request.complete) return;
    if (response.headersSent) return void ("stream" in request ? cutStream(request.stream) : request.socket.destroy());
    if (!("stream" in request)) response.setHeader("connection", "close");
    answerError(response, invalidArgument({ field: "body", description: "did not arrive in time" }), data);
    // The handler still reads: it ends when its request does.
    response.once("finish", () => ("stream" in request ? cutStream(request.stream) : request.socket.destroySoon()));
  });
}

function takeUnary(
  routing: Routing,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): boolean {
  const answer = routing.handlers?.rpc.unary(headers);
  if (answer === undefined || hasTwoTokens(rawHeaders)) return false;
  const data = identify(routing, stream.session?.socket.remoteAddress, headers);
  data.hasLeft = () => stream.destroyed;
  const head = { method: headers[":method"], url: headers[":path"], headers };
  const observed = observe(routing.observer, head, "rpc", data);
  logWhenDone(routing.log, head, stream, data);
  limit(routing, data, "rpc");
  const arrived = limitBody(data, routing.bodyTimeoutMs ?? DEFAULT_BODY_TIMEOUT_MS, () => cutStream(stream));
  void within(observed, () => answer(stream, headers, data)).then(() => {
    arrived();
    if (isFailedAuthentication("rpc", data, headers.authorization)) routing.admission?.failed(data.remoteAddress, true);
    observed?.end(stream.headersSent ? "200" : "aborted");
  });
  return true;
}

/** An HTTP/1.1 client that has ended its side of the connection takes no answer: Node then ends the other side too. */
function hasLeft(request: Request): boolean {
  if ("stream" in request) return request.stream.destroyed;
  return request.socket.destroyed || request.socket.readableEnded;
}

/** The request's id and its client's address. */
function identify(
  { addressOf }: Routing,
  socketAddress: string | undefined,
  headers: IncomingHttpHeaders,
): RequestData {
  return {
    requestId: randomUUID(),
    remoteAddress: addressOf(socketAddress ?? "", oneHeader(headers["x-forwarded-for"])),
  };
}

/** The request's handler; or, when no handler may take the request, one that answers the error. */
function routeOf({ handlers, answerError }: Routing, path: string, request: Request, data: RequestData): Route {
  if (handlers === undefined) return { name: "none", handle: rejecting(answerError, starting()) };
  if (hasTwoTokens(request.rawHeaders)) {
    handlers.twoTokens?.(data, request);
    return {
      name: "none",
      handle: rejecting(answerError, unauthenticated("there is more than one authorization header")),
    };
  }
  return selectRoute(handlers, path, request, data);
}

function starting(): MoorageError {
  return new MoorageError(Code.Unavailable, "Unavailable: the server is starting", { retryAfterMs: 1000 });
}

function rejecting(answerError: Routing["answerError"], error: MoorageError): RequestHandler {
  return (_request, response, data) => answerError(response, error, data);
}

/** Counts the request at its address; its handler counts it at its identity, with `data.admit`. */
function limit({ admission }: Routing, data: RequestData, handler: string): void {
  if (admission === undefined) return;
  data.rejection = admission.address(handler, data.remoteAddress);
  data.admit = admission.callers(handler);
}

/**
 * Pulls with credentials are counted only when these are not valid; they wait for their organization's turn. Those
 * without are counted at the address.
 */
function limitPull(
  { admission, pullTurns }: Routing,
  data: RequestData,
  handler: string,
  { headers: { authorization }, method }: Request,
): void {
  data.turn = pullTurns?.of(handler, data.hasLeft ?? (() => false));
  if (admission === undefined) return;
  // A form may have the credentials in its body.
  if (authorization === undefined && method !== "POST") {
    data.rejection = admission.address(handler, data.remoteAddress);
    return;
  }
  data.admit = admission.pullers(handler, data.remoteAddress);
  // A token of the registry is verified in a moment, and somebody else at the address may have guessed; to verify other
  // credentials takes longer.
  const guessing = admission.guessing(handler, data.remoteAddress);
  if (handler === "registry" && /^bearer /i.test(authorization ?? "")) data.guessRejection = guessing;
  else data.rejection = guessing;
}

/**
 * Whether the answer rejects credentials that the request has. The endpoints of the issuer, which have their paths as
 * names, take credentials in parameters as well and reject those with 400.
 */
function isFailedAuthentication(
  handler: string,
  data: RequestData,
  authorization: string | undefined,
  status?: number,
): boolean {
  const isEndpoint = handler.startsWith("/");
  if (data.observed?.code === Code.Unauthenticated || status === 401) return authorization !== undefined || isEndpoint;
  return status === 400 && isEndpoint;
}

function observe(
  observer: RequestObserver | undefined,
  head: ObservedHead,
  handler: string,
  data: RequestData,
): Observed | undefined {
  const observed = observer?.begin(head, handler, data);
  if (observed !== undefined) data.observed = observed;
  return observed;
}

function within<T>(observed: Observed | undefined, work: () => T): T {
  return observed === undefined ? work() : observed.within(work);
}

function oneHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}

function answerHealth({ handlers, health }: Routing, path: "/healthz" | "/readyz", response: Response): void {
  if (path === "/healthz") {
    const defect = health?.defect();
    return answerPlain(response, defect === undefined ? 200 : 503, defect ?? "ok");
  }
  const problem = handlers === undefined ? "the server is starting" : (health?.defect() ?? health?.problem());
  if (problem !== undefined) return answerPlain(response, 503, `not ready: ${problem}`);
  const notice = health?.notice();
  answerPlain(response, 200, notice === undefined ? "ready" : `ready, but ${notice}`);
}

function answerPlain(response: Response, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.setHeader("cache-control", "no-store");
  response.setHeader("content-length", Buffer.byteLength(text));
  response.end(text);
}
