import type { IncomingHttpHeaders } from "node:http2";
import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import type { Clock } from "../../lib/clock.ts";
import type { CallData, Caller } from "../../core/call.ts";
import type { KeptAnswers } from "../../runtime/response-cache.ts";
import { grpcUnary, isBinaryGrpc } from "./grpc.ts";
import type { AnswerStream } from "./grpc.ts";
import type { Request, RequestData, RequestHandler } from "../../core/http.ts";
import { isUnary, serviceOf, trueNamesOf, withAliases } from "./names.ts";
import type { ErrorLog } from "../status.ts";

/** What the door needs of dispatch. `extra` is for methods that read the token themselves, as the exchange does. */
export interface Dispatch {
  unary(method: DescMethodUnary, data: CallData, message: Message, extra?: CallerHeaders): Promise<Message>;
  stream(
    method: DescMethodServerStreaming,
    data: CallData,
    message: Message,
    extra: { signal: AbortSignal; renew(): Promise<CallData> },
  ): AsyncIterable<Message>;
}

/** What of a request's headers says who calls, as it was sent. */
export interface CallerHeaders {
  authorization?: string;
}

export interface RpcDoorOptions {
  dispatch: Dispatch;
  /** The services served, health and reflection aside. Of their methods none may have a caller that streams. */
  services: readonly DescService[];
  /**
   * Verifies the caller before the request's body is read. Throws UNAUTHENTICATED; for a public method it may answer
   * ANONYMOUS.
   */
  authenticate(headers: CallerHeaders, method: DescMethod, data: RequestData): Promise<Caller>;
  /** Package prefixes that stand for `moorage` as well, e.g. `acme.platform`. Source: contract §1. */
  aliases: readonly string[];
  errorDomain: string;
  log: ErrorLog;
  clock: Clock;
  /** Absent: every call is worked on. */
  kept?: KeptAnswers;
  /** Given when the server starts to shut down: health answers NOT_SERVING, watches and streams end. */
  shutdown: AbortSignal;
  maxMessageBytes?: number;
}

export interface RpcDoor {
  /**
   * What answers a unary call in binary gRPC on the bare stream, the short way. Absent: it is none, or one of health or
   * reflection.
   */
  unary(headers: IncomingHttpHeaders): AnswerStream | undefined;
  /** Whether the request is for this door: a POST below a service's name or alias, or anything said in gRPC. */
  matches(request: Request): boolean;
  /** Answers it, to the end. */
  handle: RequestHandler;
}

/**
 * gRPC, gRPC-Web and the Connect protocol over either HTTP version, with health and reflection. Errors are those of
 * REST: the same code, message and details. A deadline ends the answer, not the work, which its transaction ends whole
 * or not at all.
 */
export function rpcDoor(options: RpcDoorOptions): RpcDoor {
  const { services, aliases } = options;
  const names = trueNamesOf(services, aliases);
  const unary = new Map<string, AnswerStream>(
    services.flatMap(({ typeName, methods }) =>
      methods.filter(isUnary).flatMap((method) => {
        const answer = grpcUnary(options, method);
        return withAliases(`${typeName}/${method.name}`, aliases).map((path) => [`/${path}`, answer] as const);
      }),
    ),
  );
  // Loaded at its first use: most servers never hear anything but unary gRPC, and it takes 20 MiB.
  let adapter: Promise<RpcDoor["handle"]> | undefined;
  return {
    unary: (headers) =>
      headers[":method"] === "POST" && isBinaryGrpc(headers["content-type"])
        ? unary.get(headers[":path"] ?? "")
        : undefined,
    matches: (request) => request.method === "POST" && (isGrpc(request) || names.has(serviceOf(request))),
    async handle(request, response, data) {
      adapter ??= import("./connect.ts").then(({ connectHandler }) => connectHandler(options));
      await (
        await adapter
      )(request, response, data);
    },
  };
}

function isGrpc(request: Request): boolean {
  return request.headers["content-type"]?.startsWith("application/grpc") ?? false;
}
