import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { MoorageError } from "../errors.ts";
import type { Awaitable } from "../lib/awaitable.ts";
import type { Observed } from "./observer.ts";

/** A request of either HTTP version: only the parts that both APIs have may be used. */
export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** What the port knows about a request before its handler reads it. */
export interface RequestData {
  requestId: string;
  remoteAddress: string;
  observed?: Observed;
  /** The rejection of a request by the address's rate limit: its handler answers it in its protocol's form. */
  rejection?: MoorageError | undefined;
  /** The rejection of a request by the same limit if its credentials turn out to be invalid. */
  guessRejection?: MoorageError | undefined;
  /**
   * Counts a request of the identity, once the caller is authenticated. Throws RESOURCE_EXHAUSTED when there were too
   * many.
   */
  admit?: ((identity: string) => void) | undefined;
  /** The request's turn among others; undefined for those that do not wait for one. */
  turn?: Turn | undefined;
  /** Called when the caller is authenticated: from then on its body may take any time. */
  authenticated?: (() => void) | undefined;
  /** Whether the client has disconnected. */
  hasLeft?: (() => boolean) | undefined;
}

/** A request's turn among those of all organizations, which under load begin one after another. */
export interface Turn {
  /**
   * Waits until a request of the organization may begin; what comes after the first call begins immediately. Throws
   * UNAVAILABLE with a retry delay when too many wait, or it took too long.
   */
  begin(organization: string): Awaitable<void>;
  /** Lets the next one begin: the rest of the request waits for something else, or only for its client. */
  end(): void;
}

/** Answers a request completely: by the time it returns, where nothing is waited for. */
export type RequestHandler = (request: Request, response: Response, data: RequestData) => Awaitable<void>;

/**
 * Begins an answer. `headers` are names and values in turn: as one list they cost Node a fraction of headers that
 * are set one by one. They replace headers of the same names that were set before.
 */
export function writeHead(response: Response, status: number, headers: string[]): void {
  if (!("stream" in response)) return void response.writeHead(status, headers);
  response.statusCode = status;
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] ?? "", headers[at + 1] ?? "");
}

/**
 * Begins an answer with `first`, names and values in turn, then `headers`, and the length of its body in bytes, if that
 * is known.
 */
export function beginAnswer(
  response: Response,
  status: number,
  first: readonly string[],
  headers: Readonly<Record<string, string | readonly string[]>>,
  length?: number,
): void {
  const all = [...first];
  for (const name in headers) {
    const value = headers[name] ?? "";
    if (typeof value === "string") all.push(name, value);
    else for (const each of value) all.push(name, each);
  }
  if (length !== undefined) all.push("content-length", String(length));
  writeHead(response, status, all);
}

/** The limits of a body that is read whole. */
export interface BodyLimits {
  maxBytes: number;
  /** How long the whole body may take to arrive. Defaults to no limit. */
  timeoutMs?: number;
  /** How long a client may send nothing before its connection is cut. Defaults to the port's time-out. */
  idleTimeoutMs?: number;
}

const waiting = new WeakSet<Request>();

/** Notes that the client waits for `100 Continue` before it sends the body, until the returned function is called. */
export function awaitContinue(request: Request): () => void {
  waiting.add(request);
  return () => void waiting.delete(request);
}

/**
 * Reads the rest of a body and drops it, so that the connection can still carry the answer. The body of a client that
 * waits is not asked for: it sends none when it gets its answer.
 */
function dropBody(request: Request): void {
  if (!waiting.has(request)) request.resume();
}

/** Why a body could not be read whole. */
export type BodyProblem = "too large" | "too slow" | "cut short";

/**
 * Reads a request's body whole. Throws the error that `reject` makes of a problem. The rest of a rejected body is
 * dropped unread, so that the connection can still carry the answer; the port limits how long that may take.
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
    dropBody(request);
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
  // This listener stays: a connection that breaks while a rejected body is dropped must not end the process.
  request.on("error", cut);
  if (Number(request.headers["content-length"]) > maxBytes) end("too large");
  else if (request.readableEnded || request.destroyed) cut();
  else request.on("data", take).once("end", finish).once("aborted", cut).once("close", cut);
  return body.promise;
}
