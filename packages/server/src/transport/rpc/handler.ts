import type { IncomingHttpHeaders } from "node:http2";
import type { Request, RequestHandler } from "@moorage/kernel/core/http";
import { isUnary } from "@moorage/kernel/core/method-kinds";
import { grpcUnary, isBinaryGrpc } from "./grpc.ts";
import type { AnswerStream } from "../http/select-route.ts";
import { serviceOf, trueNamesOf, servedNames } from "./names.ts";
import type { RpcHandlerOptions } from "./options.ts";

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
