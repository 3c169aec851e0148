// How commands ask the platform API: over gRPC, with the token of the environment or one signed from the data folder.
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { readBootstrap, signToken } from "@moorage/server";
import { configOf, dataDirOf } from "./token.ts";

const CALL_TIMEOUT_MS = 30_000;
const TOKEN_TTL_MS = 300_000;

/** A server's platform API, asked as one identity. */
export interface Connection {
  /** URL of the server. */
  url: string;
  /** Throws a CallError. */
  ask<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>, request: MessageInitShape<I>): Promise<MessageShape<O>>;
}

/** The flags that say which server, as commander gives them. */
export interface ServerFlags { url?: string; dataDir?: string }

/** A call that failed, in one line: the code as gRPC spells it, and the message. */
export class CallError extends Error {}

/** The server of the flags. The token is MOORAGE_TOKEN, or else the owner's, signed from the data folder. */
export async function connect({ url, dataDir }: ServerFlags): Promise<Connection> {
  const folder = dataDirOf(dataDir);
  const token = process.env.MOORAGE_TOKEN || (await signToken({ config: configOf(folder), audience: "platform", ttlMs: TOKEN_TTL_MS })).token;
  const baseUrl = url ?? readBootstrap(folder).baseUrl;
  const transport = createGrpcTransport({ baseUrl });
  return {
    url: baseUrl,
    async ask(method, request) {
      try {
        return (await transport.unary(method, undefined, CALL_TIMEOUT_MS, { authorization: `Bearer ${token}` }, request)).message;
      } catch (cause) {
        const { code, rawMessage } = ConnectError.from(cause);
        throw new CallError(`${Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()}: ${rawMessage}`, { cause });
      }
    },
  };
}
