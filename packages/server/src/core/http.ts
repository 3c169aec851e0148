import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { MoorageError } from "../errors.ts";
import type { Observed } from "./observed.ts";

/** A request of either HTTP version: only what both APIs have may be used. */
export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** What the port knows of a request before it is read. */
export interface RequestData {
  requestId: string;
  remoteAddress: string;
  observed?: Observed;
  /** What the request is rejected with, whatever it asks: the handler answers it in its own form. */
  refused?: MoorageError | undefined;
  /**
   * Counts a request of the identity, once it is known to be its caller. Throws RESOURCE_EXHAUSTED where there were too
   * many.
   */
  admit?: ((identity: string) => void) | undefined;
}

/** Answers a request to the end. */
export type RequestHandler = (request: Request, response: Response, data: RequestData) => Promise<void>;

/** The bounds of a body that is read whole. */
export interface BodyLimits {
  maxBytes: number;
  /** How long the whole body may take to arrive. Absent: as long as its connection lasts. */
  timeoutMs?: number;
  /** How long a client may send nothing before its connection is cut. Absent: as long as the port lets it. */
  idleTimeoutMs?: number;
}

/** Why a body could not be read whole. */
export type BodyProblem = "too large" | "too slow" | "cut short";

/**
 * Reads a request's body whole. Throws what `reject` makes of the problem. What is left of a rejected body is dropped
 * unread, and its connection stays fit for an answer: the port bounds how long that may go on.
 */
export function readBody(
  request: Request,
  limits: BodyLimits,
  reject: (problem: BodyProblem) => Error,
  observed?: Observed,
): Promise<Buffer> {
  const { maxBytes, timeoutMs, idleTimeoutMs } = limits;
  const body = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = (): void => {
    clearTimeout(whole);
    clearTimeout(idle);
    request.off("data", take).off("end", finish).off("aborted", cut).off("close", cut);
  };
  const end = (problem: BodyProblem): void => {
    stop();
    request.resume();
    body.reject(reject(problem));
  };
  const take = (chunk: Buffer): void => {
    idle?.refresh();
    size += chunk.length;
    if (observed !== undefined) observed.receivedBytes += chunk.length;
    chunks.push(chunk);
    if (size > maxBytes) end("too large");
  };
  const finish = (): void => {
    stop();
    body.resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size));
  };
  const cut = (): void => end("cut short");
  const whole = timeoutMs === undefined ? undefined : setTimeout(() => end("too slow"), timeoutMs);
  const idle =
    idleTimeoutMs === undefined
      ? undefined
      : setTimeout(() => request.destroy(new Error("the client sent nothing for too long")), idleTimeoutMs);
  // Stays: a connection that breaks while a rejected body is dropped must not bring down the process.
  request.on("error", cut);
  if (Number(request.headers["content-length"]) > maxBytes) end("too large");
  else if (request.readableEnded || request.destroyed) cut();
  else request.on("data", take).once("end", finish).once("aborted", cut).once("close", cut);
  return body.promise;
}
