import { randomUUID } from "node:crypto";
import {
  constants,
  createServer as createHttp2Server,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import type { Request, Response } from "@moorage/kernel/core/http";
import { attempt, type Awaitable } from "@moorage/kernel/lib/awaitable";
import type { TakeConnection } from "./connections.ts";
import { continueWhenRead } from "./expect.ts";
import { http1, type Handler } from "./http1.ts";
import { PORT_LIMITS, type PortLimits } from "./limits.ts";
import { peek } from "./sniff.ts";
import { asMoorageError, type ErrorLog, statusJson } from "../status.ts";

/** Answers an HTTP/2 stream completely and returns true; or returns false, and the handler gets it as a request. */
export type TakeStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
) => boolean;

/** A certificate and its private key in PEM. */
export interface KeyPair {
  cert: string | Buffer;
  key: string | Buffer;
}

export interface ListenOptions {
  host: string;
  /** 0 chooses any free port. */
  port: number;
  /** With it the port also accepts TLS, beside clear text. */
  tls?: KeyPair | undefined;
  handler: Handler;
  /** Called first for each connection. Defaults to taking all. */
  takeConnection?: TakeConnection;
  /** Called first for each HTTP/2 stream. */
  takeStream?: TakeStream;
  /** The suffix of ErrorInfo's domain, for the errors that the port itself answers. */
  errorDomain: string;
  log: ErrorLog;
  limits?: Partial<PortLimits>;
  /** Serves its connections, and does not listen itself. */
  source?: ConnectionSource | undefined;
}

/** Connections that another process accepted. */
export interface ConnectionSource {
  address: string;
  port: number;
  /** Begins to pass connections, which may have been read from but whose bytes nobody has taken. */
  start(accept: (socket: Socket) => void): void;
}

export interface Listening {
  port: number;
  address: string;
  /**
   * Accepts no more connections and requests, lets those under way end, and after `graceMs` milliseconds cuts the rest:
   * so many connections.
   */
  close(graceMs: number): Promise<{ cut: number }>;
}

/**
 * One TCP port for HTTP/1.1, HTTP/2 with prior knowledge, and both over TLS by ALPN. A client with
 * `Expect: 100-continue` gets that when the handler reads its body. Rejects when it cannot listen on the port.
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const limits = { ...PORT_LIMITS, ...options.limits };
  const sockets = new Set<Socket>();
  const undecided = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  let draining = false;
  let emptied = (): void => {};
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) emptied();
    });
  };

  const serve: Handler = (request, response) => {
    cutUnreadBody(request, response, limits.lingerTimeoutMs);
    demandTls(request, response);
    return answer(request, response, options);
  };
  const h1 = http1(serve, limits, options.errorDomain);
  const h2 = http2Server(serve, limits);
  if (options.takeStream) offerStreams(h2, options.takeStream, options.log);
  h2.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    if (draining) session.close();
  });
  const tls =
    options.tls &&
    tlsServer(options.tls, limits, (socket, protocol) => {
      track(socket);
      if (protocol === "h2") h2.emit("connection", socket);
      else h1.accept(socket);
    });
  h1.server.on("connection", (socket) => {
    if (options.takeConnection !== undefined) {
      const closed = options.takeConnection(socket.remoteAddress ?? "");
      if (closed === undefined) return void socket.destroy();
      socket.once("close", closed);
    }
    track(socket);
    undecided.add(socket);
    peek(socket, limits.peekTimeoutMs, (protocol) => {
      undecided.delete(socket);
      if (protocol === "http1") h1.accept(socket);
      else if (protocol === "http2") acceptHttp2(socket, h2);
      else if (protocol === "tls" && tls) tls.emit("connection", socket);
      else if (protocol === "tls") rejectTls(socket, limits.peekTimeoutMs);
      else socket.destroy();
    });
  });

  const bound = options.source ?? (await listenItself(h1.server, options));
  options.source?.start((socket) => {
    if (draining) return void socket.destroy();
    h1.adopt(socket);
  });

  const close = async (graceMs: number): Promise<{ cut: number }> => {
    let count = 0;
    draining = true;
    const drained = h1.drain();
    for (const socket of undecided) socket.destroy();
    for (const session of sessions) session.close();
    const cut = setTimeout(() => {
      count = sockets.size;
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
    }, graceMs);
    await drained;
    if (sockets.size > 0) await new Promise<void>((resolve) => (emptied = resolve));
    clearTimeout(cut);
    return { cut: count };
  };
  let closing: ReturnType<typeof close> | undefined;
  return { port: bound.port, address: bound.address, close: (graceMs) => (closing ??= close(graceMs)) };
}

async function listenItself(server: Server, { host, port, log }: ListenOptions): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject).on("error", (error) => log.error({ err: error }, "port failed"));
      resolve();
    });
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the server listens on no port");
  return bound;
}

const NO_TLS = "this port speaks plain HTTP\n";

/**
 * Answers a client that begins a TLS handshake on a port without TLS, in plain HTTP. Container clients try HTTPS first
 * on a registry that they may use without TLS: an HTTP answer makes them fall back to HTTP, where a closed connection
 * makes them retry.
 */
function rejectTls(socket: Socket, timeoutMs: number): void {
  socket
    .on("error", () => socket.destroy())
    .setTimeout(timeoutMs, () => socket.destroy())
    .resume();
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${NO_TLS.length}\r\nconnection: close\r\n\r\n${NO_TLS}`,
  );
}

const HSTS = "max-age=31536000";

/**
 * Has browsers use nothing but TLS for this host for a year. Not for localhost, which is the host of other
 * programs as well. Source: RFC 6797 §6.1, §7.2.
 */
function demandTls(request: Request, response: Response): void {
  const { socket, headers } = request;
  if (!("encrypted" in socket) || socket.encrypted !== true) return;
  const host = "stream" in request ? request.authority : (headers.host ?? "");
  if (!/^localhost(?::|$)/i.test(host)) response.setHeader("strict-transport-security", HSTS);
}

/**
 * Ends a request whose body continues for some time after its answer. Node would read and drop the rest of an HTTP/1.1
 * body without a limit, and keep an HTTP/2 stream open for it.
 */
function cutUnreadBody(request: Request, response: Response, lingerTimeoutMs: number): void {
  const { socket, headers } = request;
  if (
    request.httpVersionMajor === 1 &&
    headers["content-length"] === undefined &&
    headers["transfer-encoding"] === undefined
  )
    return;
  const cut = (): void =>
    void ("stream" in response ? response.stream.close(constants.NGHTTP2_NO_ERROR) : socket.destroy());
  const answered = "stream" in response ? response.stream : response;
  answered.once("finish", () => {
    if (request.complete) return;
    const timer = setTimeout(() => void (request.complete || cut()), lingerTimeoutMs).unref();
    request.once("close", () => clearTimeout(timer));
  });
}

/** Catches what the handler throws. Handlers answer their own errors, so an error that arrives here is a defect. */
function answer(request: Request, response: Response, { handler, errorDomain, log }: ListenOptions): Awaitable<void> {
  return attempt(
    () => handler(request, response),
    (thrown) => {
      const error = asMoorageError(thrown, log, randomUUID());
      if (!response.headersSent) {
        response.statusCode = 500;
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(statusJson(error, "http", errorDomain)));
      } else if ("stream" in response) {
        response.stream.destroy();
      } else {
        response.destroy();
      }
    },
  );
}

function http2Server(serve: Handler, limits: PortLimits): Http2Server {
  const settings = {
    maxConcurrentStreams: limits.maxStreams,
    initialWindowSize: limits.streamWindowBytes,
    maxHeaderListSize: limits.maxHeaderBytes,
  };
  const server = createHttp2Server({ settings }, serve);
  server.on("checkContinue", (request: Http2ServerRequest, response: Http2ServerResponse) => {
    continueWhenRead(request, response);
    void serve(request, response);
  });
  server.on("session", (session) => {
    session.setLocalWindowSize(limits.sessionWindowBytes);
    session.setTimeout(limits.idleTimeoutMs, () => probe(session, limits.probeTimeoutMs));
  });
  // The session ends by itself afterwards; without a listener the error would end the process.
  server.on("sessionError", (_error, session) => session.destroy());
  return server;
}

/**
 * Node makes a request and a response for each stream, which costs more than a small answer: streams that `take` takes
 * get none.
 */
function offerStreams(server: Http2Server, take: TakeStream, log: ErrorLog): void {
  const makeRequest = server.listeners("stream");
  server.removeAllListeners("stream");
  server.on("stream", (stream: ServerHttp2Stream, headers, flags, rawHeaders) => {
    // A reset by the client also closes the stream, which is handled there; without a listener the error would end the
    // process.
    stream.on("error", ignore);
    try {
      if (take(stream, headers, rawHeaders)) return;
    } catch (error) {
      log.error({ err: error }, "stream failed unexpectedly");
      return void stream.destroy();
    }
    for (const listener of makeRequest) listener.call(server, stream, headers, flags, rawHeaders);
  });
}

function ignore(): void {}

function acceptHttp2(socket: Socket, server: Http2Server): void {
  // The session closes when the client's side does, but misses an end that came together with the first bytes.
  socket.once("end", () => socket.destroy());
  server.emit("connection", socket);
}

/**
 * Streams may legitimately be silent for long (a health watch), so a silent connection is cut only when its peer does
 * not answer a ping.
 */
function probe(session: ServerHttp2Session, timeoutMs: number): void {
  if (session.destroyed) return;
  const gone = setTimeout(() => session.destroy(), timeoutMs).unref();
  const asked = session.ping((error) => {
    clearTimeout(gone);
    if (error) session.destroy();
  });
  if (!asked) session.destroy();
}

function tlsServer(pair: KeyPair, limits: PortLimits, accept: (socket: Socket, protocol: string) => void): TlsServer {
  const server = createTlsServer({
    ...pair,
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: limits.handshakeTimeoutMs,
  });
  server.on("secureConnection", (socket) => accept(socket, socket.alpnProtocol || "http/1.1"));
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return server;
}
