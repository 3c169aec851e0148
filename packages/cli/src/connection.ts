// How commands call the platform API: over gRPC, with the token of the environment, of a sign-in, or one signed from
// the data folder.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { accessTokenFor, readLogins } from "./credentials.ts";
import { dataDirOf, signOwnToken } from "./owner-token.ts";

const CALL_TIMEOUT_MS = 30_000;
const TOKEN_TTL_MS = 300_000;

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

/** The flags that select the server, as commander names them. */
export interface ServerFlags {
  url?: string;
  dataDir?: string;
}

/** A failed call, in one line: the name of the gRPC code, and the message. */
export class CallError extends Error {}

/**
 * The server of the flags. The token is MOORAGE_TOKEN, or else that of a sign-in, or else the owner's, signed from the
 * data folder.
 */
export async function connect({ url, dataDir }: ServerFlags): Promise<Connection> {
  const folder = dataDirOf(dataDir);
  const server = process.env.MOORAGE_TOKEN ? undefined : loginOf(url, dataDir, folder);
  const token =
    process.env.MOORAGE_TOKEN ||
    (server === undefined
      ? await signOwnToken({ dataDir: folder, audience: "platform", ttlMs: TOKEN_TTL_MS })
      : await accessTokenFor(server));
  const baseUrl = url ?? server ?? (await import("@moorage/server/bootstrap")).readBootstrap(folder).baseUrl;
  const transport = createGrpcTransport({ baseUrl });
  return {
    url: baseUrl,
    async ask(method, request) {
      try {
        return (
          await transport.unary(method, undefined, CALL_TIMEOUT_MS, { authorization: `Bearer ${token}` }, request)
        ).message;
      } catch (cause) {
        const { code, rawMessage } = ConnectError.from(cause);
        throw new CallError(`${Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()}: ${rawMessage}`, {
          cause,
        });
      }
    },
  };
}

/** The server whose sign-in is used. Undefined when a data folder was named, or exists and no server was named. */
function loginOf(url: string | undefined, dataDir: string | undefined, folder: string): string | undefined {
  if (
    dataDir !== undefined ||
    process.env.MOORAGE_DATA_DIR ||
    (url === undefined && existsSync(join(folder, "bootstrap.json")))
  )
    return undefined;
  const servers = Object.keys(readLogins());
  if (url === undefined) return servers.length === 1 ? servers[0] : undefined;
  const origin = URL.parse(url)?.origin;
  return servers.find((server) => server === origin);
}
