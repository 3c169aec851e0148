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
import { originOf, platformToken, type ServerFlags } from "./caller.ts";

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
export class CallError extends Error {}

/** The server and the caller of the flags, with a token as `platformToken` gives it. */
export async function connect(flags: ServerFlags, spareMs?: number): Promise<Connection> {
  const { url, token } = await platformToken(await originOf(flags), spareMs);
  const transport = createGrpcTransport({ baseUrl: url });
  const headers = { authorization: `Bearer ${token}` };
  return {
    url,
    async ask(method, request) {
      try {
        return (await transport.unary(method, undefined, CALL_TIMEOUT_MS, headers, request)).message;
      } catch (error) {
        throw callError(error);
      }
    },
    async *watch(method, request, signal) {
      try {
        yield* (await transport.stream(method, signal, undefined, headers, once(request))).message;
      } catch (error) {
        if (!signal.aborted) throw callError(error);
      }
    },
  };
}

async function* once<T>(message: T): AsyncGenerator<T> {
  yield message;
}

function callError(cause: unknown): CallError {
  const { code, rawMessage } = ConnectError.from(cause);
  return new CallError(`${Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()}: ${rawMessage}`, { cause });
}
