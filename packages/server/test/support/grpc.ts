import {
  create,
  createRegistry,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { TermsNotAcceptedDetailSchema } from "@moorage/api";
import { ConnectError, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RequestInfoSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
} from "@moorage/api/gen/google/rpc/error_details_pb";
import { StatusSchema } from "@moorage/api/gen/google/rpc/status_pb";
import type { Json } from "./platform.ts";

/** A google.rpc.Status as JSON, as the REST handler writes it. */
export type Refused = Pick<Json, "code" | "message" | "details">;
/** The result of a gRPC call: a message, or a google.rpc.Status in REST's JSON. */
type GrpcAnswer<O extends DescMessage> =
  | { message: MessageShape<O>; error?: undefined }
  | { message?: undefined; error: Refused };

/** A gRPC client over HTTP/2 in clear text, for every method. */
export interface Grpc {
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    token?: string,
  ): Promise<GrpcAnswer<O>>;
  /**
   * The messages of a stream, until the signal is aborted. `endOf` converts the error that ends it, which is thrown.
   */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    token?: string,
    signal?: AbortSignal,
  ): AsyncIterable<MessageShape<O>>;
  close(): void;
}

const TIMEOUT_MS = 60_000;
const DETAILS = createRegistry(
  TermsNotAcceptedDetailSchema,
  ErrorInfoSchema,
  BadRequestSchema,
  PreconditionFailureSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
  RequestInfoSchema,
);

export function openGrpc(url: string): Grpc {
  const sessionManager = new Http2SessionManager(url);
  return clientOf(createGrpcTransport({ baseUrl: url, sessionManager }), sessionManager);
}

/** The same by the Connect protocol, in JSON. */
export function openConnect(url: string): Grpc {
  const sessionManager = new Http2SessionManager(url);
  return clientOf(
    createConnectTransport({ baseUrl: url, httpVersion: "2", sessionManager, useBinaryFormat: false }),
    sessionManager,
  );
}

/** The same by gRPC-Web. */
export function openGrpcWeb(url: string): Grpc {
  const sessionManager = new Http2SessionManager(url);
  return clientOf(createGrpcWebTransport({ baseUrl: url, httpVersion: "2", sessionManager }), sessionManager);
}

/** The error that ended a stream, in REST's form. */
export function endOf(error: unknown): Refused {
  return statusOf(ConnectError.from(error));
}

function clientOf(transport: Transport, sessionManager: Http2SessionManager): Grpc {
  return {
    async call(method, request, token) {
      const headers = new Headers(token === undefined ? {} : { authorization: `Bearer ${token}` });
      try {
        const { message } = await transport.unary(method, undefined, TIMEOUT_MS, headers, request, undefined);
        return { message };
      } catch (error) {
        return { error: statusOf(ConnectError.from(error)) };
      }
    },
    async *stream(method, request, token, signal) {
      const headers = new Headers(token === undefined ? {} : { authorization: `Bearer ${token}` });
      async function* one() {
        yield request;
      }
      const { message } = await transport.stream(method, signal, undefined, headers, one(), undefined);
      yield* message;
    },
    close: () => sessionManager.abort(),
  };
}

// Details received over the wire are bytes; those that a client creates itself are not.
function statusOf(error: ConnectError): Refused {
  const details = error.details.flatMap((detail) =>
    "value" in detail && detail.value instanceof Uint8Array && "type" in detail
      ? [create(AnySchema, { typeUrl: `type.googleapis.com/${detail.type}`, value: detail.value })]
      : [],
  );
  return toJson(StatusSchema, create(StatusSchema, { code: error.code, message: error.rawMessage, details }), {
    registry: DETAILS,
  }) as object as Refused;
}
