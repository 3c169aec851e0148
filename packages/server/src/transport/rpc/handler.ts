import type { IncomingHttpHeaders } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import type { Pipeline } from "../../runtime/pipeline.ts";
import { grpcUnary, isBinaryGrpc } from "./grpc.ts";
import type { AnswerStream } from "./grpc.ts";
import type { Request, RequestHandler } from "../../core/http.ts";
import { isUnary } from "../../core/method-kinds.ts";
import { serviceOf, trueNamesOf, servedNames } from "./names.ts";
import type { ErrorLog } from "../status.ts";

export interface RpcHandlerOptions {
  pipeline: Pipeline;
  /** The services to serve, besides health and reflection. None of their methods may stream requests. */
  services: readonly DescService[];
  /** Package prefixes that stand for `moorage` as well, e.g. `acme.platform`. Source: docs/contract.md, "Versions". */
  aliases: readonly string[];
  errorDomain: string;
  log: ErrorLog;
  /** Aborted when the server starts to shut down: health answers NOT_SERVING, watches and streams end. */
  shutdown: AbortSignal;
  /** What keeps the server from being ready; health answers NOT_SERVING then. Defaults to nothing. */
  problem?(): string | undefined;
  maxMessageBytes?: number;
}

export interface RpcHandler {
  /**
   * Answers a unary call in binary gRPC on the bare stream. Undefined for other requests, and for health and
   * reflection.
   */
  unary(headers: IncomingHttpHeaders): AnswerStream | undefined;
  /** Whether this handler takes the request: a POST below a service's name or alias, or any gRPC content type. */
  matches(request: Request): boolean;
  /** Answers the request completely. */
  handle: RequestHandler;
}

/**
 * gRPC, gRPC-Web and the Connect protocol over either HTTP version, with health and reflection. Errors are those of
 * REST: the same code, message and details. A deadline ends the answer, but not the work, which its transaction commits
 * whole or not at all.
 */
export function rpcHandler(options: RpcHandlerOptions): RpcHandler {
  const { services, aliases } = options;
  const names = trueNamesOf(services, aliases);
  const unary = new Map<string, AnswerStream>(
    services.flatMap(({ typeName, methods }) =>
      methods.filter(isUnary).flatMap((method) => {
        const answer = grpcUnary(options, method);
        return servedNames(`${typeName}/${method.name}`, aliases).map((path) => [`/${path}`, answer] as const);
      }),
    ),
  );
  // Loaded at its first use: most servers get nothing but unary gRPC, and it takes 20 MiB.
  let adapter: Promise<RpcHandler["handle"]> | undefined;
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
