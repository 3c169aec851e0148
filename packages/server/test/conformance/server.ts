// The server that the Connect project's conformance runner calls: its ConformanceService over Moorage's gRPC handler,
// without the rest of Moorage. Started by .ci/connect-conformance.sh; its argument is a file with the service's
// descriptors. Moorage's services cannot set headers, trailers or error details, but the ConformanceService must: they
// are added to the HTTP/2 stream's answer here, so the runner tests how they are sent, not how they are made. The
// ErrorInfo that every error of Moorage has (docs/contract.md, "Errors") is removed, because the runner expects errors
// without details.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { createFileRegistry, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import type { DescMessage, FileRegistry, JsonObject, Message } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { StatusSchema } from "@moorage/api/gen/google/rpc/status_pb";
import { pino } from "pino";
import { ANONYMOUS } from "../../../kernel/src/core/call.ts";
import { systemClock } from "../../../kernel/src/lib/clock.ts";
import { type Code, MoorageError } from "../../../kernel/src/errors.ts";
import { grpcTimeoutMs } from "../../src/transport/rpc/grpc-timeout.ts";
import { listen } from "../../src/transport/http/listen.ts";
import { createPipeline, type PipelineDeps } from "../../src/runtime/pipeline.ts";
import { rpcHandler } from "../../src/transport/rpc/handler.ts";

const PACKAGE = "connectrpc.conformance.v1";

/** The ConformanceService's messages in JSON. */
interface Header {
  name: string;
  value?: string[];
}
interface Definition {
  responseHeaders?: Header[];
  responseTrailers?: Header[];
  responseData?: string;
  responseDelayMs?: number;
  error?: { code?: string; message?: string; details?: JsonObject[] };
}
interface Start {
  useTls?: boolean;
  messageReceiveLimit?: number;
  serverCreds?: { cert: string; key: string };
}

const registry: FileRegistry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, readFileSync(process.argv[2] ?? "")),
);
const messageOf = (name: string): DescMessage =>
  registry.getMessage(`${PACKAGE}.${name}`) ?? fault(`there is no message ${name}`);
const service = registry.getService(`${PACKAGE}.ConformanceService`) ?? fault("there is no ConformanceService");
const codes = registry.getEnum(`${PACKAGE}.Code`) ?? fault("there are no codes");

function fault(text: string): never {
  throw new Error(text);
}

/** Headers and trailers to add to an answer. An error is sent as one block of headers, without trailers. */
interface Extra {
  headers: OutgoingHttpHeaders;
  trailers: OutgoingHttpHeaders;
}

/** Running calls by request id: the headers and trailers to add to the answer, and the request's headers. */
const calls = new Map<string, { answer: Extra; headers: IncomingHttpHeaders }>();

const dispatch: PipelineDeps["dispatch"] = {
  async answer(method, { requestId }, message): Promise<Message> {
    const { answer, headers } = calls.get(requestId) ?? fault("the call did not come over an HTTP/2 stream");
    const { responseDefinition: asked = {} } = toJson(method.input, message, { registry }) as {
      responseDefinition?: Definition;
    };
    await sleep(asked.responseDelayMs ?? 0);
    const info = {
      ...requestInfo(headers),
      requests: [
        {
          "@type": `type.googleapis.com/${method.input.typeName}`,
          ...(toJson(method.input, message, { registry }) as JsonObject),
        },
      ],
    };
    if (asked.error === undefined) {
      Object.assign(answer, { headers: outgoing(asked.responseHeaders), trailers: outgoing(asked.responseTrailers) });
      return fromJson(
        method.output,
        { payload: { ...(asked.responseData !== undefined && { data: asked.responseData }), requestInfo: info } },
        { registry },
      );
    }
    const code = codes.values.find((value) => value.name === asked.error?.code)?.number ?? 0;
    const text = asked.error.message ?? "";
    const details = [
      ...(asked.error.details ?? []),
      { "@type": `type.googleapis.com/${PACKAGE}.ConformancePayload.RequestInfo`, ...info },
    ];
    const status = toBinary(StatusSchema, fromJson(StatusSchema, { code, message: text, details }, { registry }));
    // An error is sent as one block of headers.
    answer.headers = {
      ...outgoing(asked.responseHeaders),
      ...outgoing(asked.responseTrailers),
      "grpc-status-details-bin": Buffer.from(status).toString("base64").replace(/=+$/, ""),
    };
    // The request id lets an INTERNAL error keep its message.
    throw new MoorageError(code as Code, text, { metadata: { requestId } });
  },
  stream: () => fault("streaming methods are not served"),
};

function requestInfo(headers: IncomingHttpHeaders): JsonObject {
  const timeout = headers["grpc-timeout"];
  return {
    requestHeaders: Object.entries(headers)
      .filter(([name]) => !name.startsWith(":"))
      .map(([name, value]) => ({ name, value: Array.isArray(value) ? value : (value ?? "").split(", ") })),
    ...(typeof timeout === "string" && { timeoutMs: String(Math.round(grpcTimeoutMs(timeout))) }),
  };
}

function outgoing(headers: Header[] = []): OutgoingHttpHeaders {
  return Object.fromEntries(headers.map(({ name, value = [] }) => [name.toLowerCase(), value]));
}

/** Adds headers and trailers to the stream's answer. The service sets them before the answer is sent. */
function decorate(stream: ServerHttp2Stream): Extra {
  const extra: Extra = { headers: {}, trailers: {} };
  const respond = stream.respond.bind(stream);
  const sendTrailers = stream.sendTrailers.bind(stream);
  stream.respond = (head, options) =>
    respond({ ...head, "grpc-status-details-bin": undefined, ...extra.headers }, options);
  stream.sendTrailers = (last) => sendTrailers({ ...last, ...extra.trailers });
  return extra;
}

/** Messages on standard input and output are prefixed with their length in four bytes. */
function readStart(bytes: Buffer): Start {
  return toJson(messageOf("ServerCompatRequest"), fromBinary(messageOf("ServerCompatRequest"), bytes.subarray(4)), {
    registry,
  }) as Start;
}

function writeAnswer(answer: JsonObject): void {
  const bytes = toBinary(
    messageOf("ServerCompatResponse"),
    fromJson(messageOf("ServerCompatResponse"), answer, { registry }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  process.stdout.write(Buffer.concat([length, bytes]));
}

const start = readStart(await buffer(process.stdin));
const log = pino({ level: "warn" }, pino.destination(2));
const shutdown = new AbortController();
const methods = service.methods.filter((method) => method.methodKind === "unary" && method.name !== "Unimplemented");
const rpc = rpcHandler({
  pipeline: createPipeline({ dispatch, clock: systemClock, authenticate: async () => ANONYMOUS }),
  log,
  services: [{ ...service, methods }],
  aliases: [],
  errorDomain: "conformance.test",
  shutdown: shutdown.signal,
  ...(start.messageReceiveLimit !== undefined && { maxMessageBytes: start.messageReceiveLimit }),
});
const pem = (base64: string): Buffer => Buffer.from(base64, "base64");
const tls =
  start.useTls === true && start.serverCreds
    ? { cert: pem(start.serverCreds.cert), key: pem(start.serverCreds.key) }
    : undefined;
const port = await listen({
  host: "127.0.0.1",
  port: 0,
  tls,
  log,
  errorDomain: "conformance.test",
  takeStream(stream, headers) {
    const answer = rpc.unary(headers);
    if (answer === undefined) return false;
    const requestId = randomUUID();
    calls.set(requestId, { answer: decorate(stream), headers });
    void answer(stream, headers, { requestId, remoteAddress: "" }).finally(() => calls.delete(requestId));
    return true;
  },
  handler: (request, response) => rpc.handle(request, response, { requestId: randomUUID(), remoteAddress: "" }),
});
process.once("SIGTERM", () => void port.close(1000));
writeAnswer({ port: port.port, ...(tls && { pemCert: start.serverCreds?.cert ?? "" }) });
