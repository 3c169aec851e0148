// How commands call the platform API: over gRPC, as the caller of caller.ts.
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
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
}

/** A failed call, in one line: the name of the gRPC code, and the message. */
export class CallError extends Error {}

/** The server and the caller of the flags. */
export async function connect(flags: ServerFlags): Promise<Connection> {
  const { url, token } = await platformToken(await originOf(flags));
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
  };
}

function callError(cause: unknown): CallError {
  const { code, rawMessage } = ConnectError.from(cause);
  return new CallError(`${Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()}: ${rawMessage}`, { cause });
}
