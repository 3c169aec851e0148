import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import {
  Code as ConnectCode,
  ConnectError,
  type ConnectRouter,
  type ContextValues,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { file_google_rpc_code } from "@moorage/api/gen/google/rpc/code_pb";
import { file_google_rpc_error_details } from "@moorage/api/gen/google/rpc/error_details_pb";
import { file_google_rpc_status } from "@moorage/api/gen/google/rpc/status_pb";
import { ServerReflection } from "@moorage/api/gen/grpc/reflection/v1/reflection_pb";
import { ServerReflection as AlphaReflection } from "@moorage/api/gen/grpc/reflection/v1alpha/reflection_pb";
import { Health } from "@moorage/api/gen/health/v1/health_pb";
import { ANONYMOUS, type Caller } from "@moorage/kernel/core/call";
import type { Request, RequestData, RequestHandler, Response } from "@moorage/kernel/core/http";
import { isServerStreaming, isUnary } from "@moorage/kernel/core/method-kinds";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { CallHead } from "../../runtime/pipeline.ts";
import { streamed } from "./connect-stream.ts";
import { aliasedServices } from "./aliased-files.ts";
import { countedBody } from "./counted-body.ts";
import { tooManyValues } from "./grpc-body.ts";
import { health } from "./health.ts";
import { MAX_DEADLINE_MS, MAX_MESSAGE_BYTES } from "../http/limits.ts";
import { reflection } from "./reflection.ts";
import type { RpcHandlerOptions } from "./options.ts";
import { completeErrors, readableMessage, toConnectError } from "./errors.ts";
import { pathOf, serviceOf, trueNamesOf, servedNames } from "./names.ts";
import { servicesForJson } from "./json-names.ts";
import { areaOf, asMoorageError, statusJson } from "../status.ts";

/**
 * `service` is the service of the path by its own name, without alias; `unknown` is set when it has no such method;
 * `drop` cuts the answer off.
 */
interface RpcRequest extends RequestData {
  service: string;
  unknown: boolean;
  drop(): void;
}

/** Turns an error into the form in which it is answered. */
type ToRejection = (error: unknown, values: ContextValues) => ConnectError;

// What the details of errors are made of.
const ERROR_FILES = [file_google_rpc_status, file_google_rpc_error_details, file_google_rpc_code];
const REQUEST = createContextKey<RpcRequest>({
  requestId: "",
  remoteAddress: "",
  service: "",
  unknown: true,
  drop: () => {},
});
const CALLER = createContextKey<Caller>(ANONYMOUS);

/** Whether the request's message was decoded. */
const IS_READ = createContextKey(false);

/**
 * Answers, through Connect's adapter, what `rpcHandler` does not answer itself: gRPC-Web, the Connect protocol, gRPC
 * over HTTP/1.1, health and reflection.
 */
export function connectHandler(options: RpcHandlerOptions): RequestHandler {
  const { services, aliases, errorDomain } = options;
  const router = connectRouter(options);
  const routes = new Map<string, Handler>(
    router.handlers.flatMap((handler) =>
      servedNames(handler.requestPath.slice(1), aliases).map((path) => [`/${path}`, handler] as const),
    ),
  );
  const trueNames = trueNamesOf(services, aliases);
  // Any handler may answer an unknown method: the gate rejects the call before the method is looked at.
  const fallback = routes.get(`/${Health.typeName}/${Health.method.check.name}`);
  if (!fallback) throw new Error("the health service is not routed");

  return async (request, response, data) => {
    const handler = routes.get(pathOf(request));
    const service = trueNames.get(serviceOf(request)) ?? "moorage.rpc";
    const values = createContextValues().set(REQUEST, {
      ...data,
      service,
      unknown: !handler,
      drop: () => response.destroy(),
    });
    const asked = universalRequest(request, response, values);
    if (!asked) return answerMalformedHost(response, service, errorDomain);
    if (handler?.method.methodKind === "server_streaming") endWithCaller(request, response);
    const counted = handler === undefined ? asked : countedRequest(handler.method, asked, service, options);
    await answerWith(handler ?? fallback, counted, response);
  };
}

type Handler = ConnectRouter["handlers"][number];

async function answerWith(handler: Handler, asked: UniversalServerRequest, response: Response): Promise<void> {
  try {
    const answer = readableMessage(await handler(asked));
    // Over HTTP/1.1 the adapter's promise never settles after success (observed with Connect 2.2), so the end of the
    // response counts as well.
    const closed = new Promise<void>((resolve) => void response.once("close", resolve));
    await Promise.race([universalResponseToNodeResponse(answer, response), closed]);
  } catch (error) {
    // Aborted means that the client has gone and nothing can be answered. Anything else is a defect, which the port
    // answers.
    if (!(error instanceof ConnectError) || error.code !== ConnectCode.Aborted) throw error;
  }
}

function answerMalformedHost(response: Response, service: string, errorDomain: string): void {
  const error = new MoorageError(Code.InvalidArgument, "Invalid argument: malformed host");
  response.statusCode = 400;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(statusJson(error, areaOf(service), errorDomain)));
}

/** The request of a method with one message; the messages of the others are of no more than a name. */
function countedRequest(
  method: DescMethod,
  asked: UniversalServerRequest,
  service: string,
  { errorDomain, maxMessageBytes: maxBytes = MAX_MESSAGE_BYTES }: RpcHandlerOptions,
): UniversalServerRequest {
  const { body, header } = asked;
  if (!isAsyncIterable(body) || !(isUnary(method) || isServerStreaming(method))) return asked;
  const reject = (): Error => toConnectError(tooManyValues(), areaOf(service), errorDomain);
  return { ...asked, body: countedBody(method, header, body, { maxBytes, reject }) };
}

function isAsyncIterable(body: UniversalServerRequest["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

/** The services' methods, health and reflection, all behind the gate. */
function connectRouter(options: RpcHandlerOptions): ConnectRouter {
  const { services, aliases, errorDomain, log } = options;
  const toRejection: ToRejection = (error, values) => {
    if (error instanceof ConnectError) return error;
    const { requestId, service } = values.get(REQUEST);
    return toConnectError(asMoorageError(error, log, requestId), areaOf(service), errorDomain);
  };
  const gate = gateOf(options);
  const router = createConnectRouter({
    acceptCompression: [compressionGzip, compressionBrotli],
    readMaxBytes: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    maxTimeoutMs: MAX_DEADLINE_MS,
    // As in REST: what is not known is refused, where it would be dropped without a word.
    jsonOptions: { ignoreUnknownFields: false },
    requestGate: (context) =>
      gate(context).catch((error: unknown) => {
        throw toRejection(error, context.values);
      }),
    interceptors: [
      (next) => (request) => {
        // The message of a stream is decoded only when its method begins.
        if (!request.stream) request.contextValues.set(IS_READ, true);
        return next(request).then(
          (answer) => {
            if (!answer.stream) request.contextValues.get(REQUEST).observed?.endRpc(0);
            return answer;
          },
          (error: unknown) => {
            throw toRejection(error, request.contextValues);
          },
        );
      },
    ],
  });
  const readable = servicesForJson(services);
  for (const service of services)
    for (const method of service.methods) {
      const read = readable.get(service.typeName)?.method[method.localName];
      if (read !== undefined) addMethod(router, method, read, options, toRejection);
    }
  const aliased = (): DescService[] => aliases.flatMap((alias) => aliasedServices(services, alias));
  const reflected = reflection(
    () => [...services, ...aliased(), Health, ServerReflection, AlphaReflection],
    ERROR_FILES,
  );
  const names = services.flatMap(({ typeName }) => servedNames(typeName, aliases));
  return router
    .service(Health, health(names, options.shutdown, options.problem))
    .service(ServerReflection, reflected.v1)
    .service(AlphaReflection, reflected.v1alpha);
}

/**
 * Runs before a request's message is read: checks the rate limit and that the method exists, and authenticates the
 * caller.
 */
function gateOf({ services, errorDomain, pipeline }: RpcHandlerOptions): (context: HandlerContext) => Promise<void> {
  const served = new Map(services.map((service) => [service.typeName, service]));
  return async (context) => {
    completeErrors(context, errorDomain, () => context.values.get(IS_READ));
    const request = context.values.get(REQUEST);
    const { observed, unknown } = request;
    if (observed !== undefined) {
      observed.beginRpc(unknown ? "other" : `${context.service.typeName}.${context.method.name}`);
      // Connect aborts the signal with the error it is about to write, whether ours or its own.
      context.signal.addEventListener("abort", () => observed.endRpc(ConnectError.from(context.signal.reason).code), {
        once: true,
      });
    }
    pipeline.admit(request);
    if (unknown) throw new MoorageError(Code.Unimplemented, "Unimplemented: no such method");
    const method = served.get(context.service.typeName)?.method[context.method.localName];
    if (method !== undefined) context.values.set(CALLER, await pipeline.identify(headOf(method, context)));
  };
}

/**
 * Over HTTP/1.1 a client that disconnects looks like one that has only finished sending. For an endless answer both end
 * it.
 */
function endWithCaller(request: Request, response: Response): void {
  if ("stream" in request) return;
  const { socket } = request;
  const leave = (): void => void response.destroy();
  socket.once("end", leave);
  response.once("close", () => socket.off("end", leave));
}

/** Undefined when the request has no host, or one that is invalid in a URL. */
function universalRequest(
  request: Request,
  response: Response,
  values: ContextValues,
): UniversalServerRequest | undefined {
  // Stopping to read a body must not destroy the connection that is to carry the error.
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }),
  };
  try {
    return { ...universalRequestFromNodeRequest(request, response, undefined, values), body };
  } catch {
    return undefined;
  }
}

/** `read` is the method with the descriptors by which Connect reads and writes its messages. */
function addMethod(
  router: ConnectRouter,
  method: DescMethod,
  read: DescMethod,
  { pipeline, shutdown }: RpcHandlerOptions,
  toRejection: ToRejection,
): void {
  if (isUnary(method) && isUnary(read)) {
    router.rpc(read, (message, context) =>
      unlessAborted(context.signal, pipeline.unary(headOf(method, context), context.values.get(CALLER), message)),
    );
  } else if (isServerStreaming(method) && isServerStreaming(read)) {
    router.rpc(read, (message, context) => {
      context.values.set(IS_READ, true);
      const answers = (signal: AbortSignal): AsyncIterable<Message> =>
        pipeline.stream(headOf(method, context), context.values.get(CALLER), message, signal);
      return streamed(answers, {
        signal: context.signal,
        shutdown,
        drop: context.values.get(REQUEST).drop,
        toRejection: (error) => toRejection(error, context.values),
      });
    });
  } else throw new Error(`${method.toString()} cannot be served: its caller streams`);
}

/**
 * Waits for the work until the signal is aborted, by a deadline or because the client has disconnected; throws the
 * signal's reason then.
 */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function headOf<M extends DescMethod>(method: M, { values, requestHeader }: HandlerContext): CallHead<M> {
  return {
    method,
    data: values.get(REQUEST),
    authorization: requestHeader.get("authorization") ?? undefined,
    userAgent: requestHeader.get("user-agent") ?? "",
  };
}
