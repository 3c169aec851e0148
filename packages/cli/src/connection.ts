// How commands call the platform API: over gRPC, as the caller of caller.ts.
import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { certificateHint } from "./http/certificates.ts";
import { debug, showRequests } from "./http/debug.ts";
import { EXIT, exitOfRpcCode } from "./command/exit-codes.ts";
import { Failure } from "./command/failure.ts";
import { endOf } from "./claims.ts";
import { durationOfFlag } from "./command/duration.ts";
import { originOf, platformToken } from "./caller.ts";
import type { ServerFlags } from "./command/global-options.ts";

const CALL_TIMEOUT_MS = 30_000;

/** A server's platform API, called as one identity. */
export interface Connection {
  /** URL of the server. */
  url: string;
  /** Calls a unary method. Throws a CallError. */
  ask<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>>;
  /** Calls a method that answers a stream, until the signal is aborted. Throws a CallError. */
  watch<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    signal: AbortSignal,
  ): AsyncIterable<MessageShape<O>>;
}

/** A failed call, in one line: the name of the gRPC code, and the message. */
class CallError extends Failure {}

/** The server and the caller of the flags, with a token as `platformToken` gives it. */
export async function connect(flags: ServerFlags, spareMs?: number): Promise<Connection> {
  if (flags.debug === true) showRequests(true);
  const timeoutMs = flags.timeout === undefined ? CALL_TIMEOUT_MS : durationOfFlag("--timeout", flags.timeout);
  const { url, token } = await platformToken(await originOf(flags), spareMs);
  const transport = createGrpcTransport({ baseUrl: url });
  const headers = { authorization: `Bearer ${token}` };
  return {
    url,
    async ask(method, request) {
      try {
        const { message, header } = await transport.unary(method, undefined, timeoutMs, headers, request);
        debug(`gRPC ${url} ${method}: OK${requestIn(header)}`);
        return message;
      } catch (error) {
        const failure = callError(error, token);
        debug(`gRPC ${url} ${method}: ${failure.message}${requestIn(ConnectError.from(error).metadata)}`);
        throw failure;
      }
    },
    async *watch(method, request, signal) {
      try {
        yield* (await transport.stream(method, signal, undefined, headers, once(request))).message;
      } catch (error) {
        if (!signal.aborted) throw callError(error, token);
      }
    },
  };
}

function requestIn(headers: Headers): string {
  const id = headers.get("x-request-id");
  return id === null ? "" : `, request ${id}`;
}

async function* once<T>(message: T): AsyncGenerator<T> {
  yield message;
}

function callError(cause: unknown, token: string): CallError {
  const { code, rawMessage } = ConnectError.from(cause);
  const name = Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  const end = code === Code.Unauthenticated ? endOf(token) : undefined;
  const said = end === undefined ? rawMessage : `the access token expired at ${end}`;
  const hint = certificateHint(cause);
  // The transport has another code for it, as if something had gone wrong at the server.
  if (hint !== undefined) return new CallError(`UNAVAILABLE: ${said}`, { exit: EXIT.unavailable, cause, hint });
  return new CallError(`${name}: ${said}`, { exit: exitOfRpcCode(code), cause });
}
