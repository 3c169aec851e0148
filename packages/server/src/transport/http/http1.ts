import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { Request, Response } from "@moorage/kernel/core/http";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Awaitable } from "@moorage/kernel/lib/awaitable";
import { continueWhenRead } from "./expect.ts";
import type { PortLimits } from "./limits.ts";
import { statusJson } from "../status.ts";

// An `import` of the module reads all of its exports, and some of them load Node's HTTP client with its WebSockets.
const { createServer } = process.getBuiltinModule("node:http");

export interface Http1 {
  /** Owns the port: its time-outs run only on the server that listens. It has no connection listener of its own. */
  server: Server;
  /** Serves HTTP/1.1 on the socket, clear text or TLS. */
  accept(socket: Socket): void;
  /** Treats a connection that another process accepted as one of the port. */
  adopt(socket: Socket): void;
  /**
   * Stops listening and closes each connection once it has no answer under way. Resolves when all connections that the
   * port has accepted itself are closed.
   */
  drain(): Promise<void>;
}

/** The HTTP/1.1 side of the port. */
export function http1(serve: Handler, limits: PortLimits, errorDomain: string): Http1 {
  // How many answers are under way on each connection.
  const answering = new Map<Socket, number>();
  // One listener for all answers, because this runs at every request. By then an answer may have lost its socket, but
  // not its request.
  const answered = function (this: ServerResponse): void {
    const { socket } = this.req;
    const left = answering.get(socket);
    if (left === undefined) return;
    answering.set(socket, left - 1);
    if (draining && left === 1) socket.destroySoon();
  };
  let draining = false;
  let adopts = false;
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    // What follows the answer that was the connection's last.
    if (socket.writableEnded) return;
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    if (draining) response.setHeader("connection", "close");
    response.on("close", answered);
    void serve(request, response);
  };
  const server = createServer(
    {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      // An upload may take any time; one that stalls is cut by the idle time-out.
      requestTimeout: 0,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, limits.headersTimeoutMs),
    },
    receive,
  );
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    receive(request, response);
  });
  server.timeout = limits.idleTimeoutMs;
  server.maxConnections = limits.maxConnections;
  // A client may close its sending side and still wait for the answer. Node's types do not have the property.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // In the middle of another answer no error can be sent any more.
    if (!socket.writable || (answering.get(socket as Socket) ?? 0) > 0) return void socket.destroy();
    socket.end(rejection(error.code, errorDomain), () => socket.destroy());
  });
  const listener = server.listeners("connection")[0];
  if (listener === undefined) throw new Error("the http server has no connection listener");
  server.removeAllListeners("connection");

  const accept = (socket: Socket): void => {
    answering.set(socket, 0);
    socket.once("close", () => answering.delete(socket));
    listener.call(server, socket);
  };
  const adopt = (socket: Socket): void => {
    // The server's time-outs run from this event on. Source: Node's lib/_http_server.js, setupConnectionsTracking.
    if (!adopts) server.emit("listening");
    adopts = true;
    // What the server sets on connections that it accepts itself.
    socket.setNoDelay(true);
    socket.allowHalfOpen = true;
    server.emit("connection", socket);
  };
  const drain = async (): Promise<void> => {
    draining = true;
    // The server's own close() destroys connections whose answer is written but not yet sent (observed with Node 26):
    // only stop listening.
    const gone = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
    for (const [socket, count] of answering) if (count === 0) socket.destroySoon();
    await gone;
    // No connection is left to destroy; this ends the server's timers.
    server.close();
  };
  return { server, accept, adopt, drain };
}

/** The answer to bytes that are not a readable HTTP/1.1 request. */
function rejection(code: string | undefined, errorDomain: string): string {
  const line =
    code === "HPE_HEADER_OVERFLOW"
      ? "431 Request Header Fields Too Large"
      : code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "408 Request Timeout"
        : "400 Bad Request";
  const error = new MoorageError(Code.InvalidArgument, "Invalid argument: malformed HTTP request");
  const body = JSON.stringify(statusJson(error, "http", errorDomain));
  return `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}

/** Answers a request of either HTTP version. */
export type Handler = (request: Request, response: Response) => Awaitable<void>;
