import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { Readable } from "node:stream";
import { pipeline as piped } from "node:stream/promises";
import { type DescMethodUnary, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { messageOf } from "@moorage/kernel/core/stored-answer";
import { isStreamed } from "@moorage/kernel/core/streamed-answer";
import { isWritten } from "@moorage/kernel/core/written-answer";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { hasMoreFields } from "@moorage/kernel/lib/protobuf-size";
import { packed, unpacked } from "../../runtime/latin1.ts";
import type { UnaryCodec } from "../../runtime/pipeline.ts";
import { isCacheable } from "../../runtime/response-cache.ts";
import { type EncodedList, listEncoder } from "./encoded-list.ts";
import { type Envelope, envelope, enveloped, tooManyValues, UnaryBody } from "./grpc-body.ts";
import { ACCEPTED_ENCODINGS, COMPRESS_FROM_BYTES, type Encoding, encodingOf, isAccepted } from "./grpc-encoding.ts";
import { DEADLINE_EXCEEDED, deadlineTrailers, failureTrailers } from "./grpc-status.ts";
import { grpcTimeoutMs } from "./grpc-timeout.ts";
import { MAX_MESSAGE_BYTES, MAX_MESSAGE_VALUES, PORT_LIMITS } from "../http/limits.ts";
import type { RpcHandlerOptions } from "./options.ts";
import { steps } from "../steps.ts";
import { areaOf, asMoorageError } from "../status.ts";
import type { AnswerStream } from "../http/select-route.ts";

type GrpcOptions = Pick<RpcHandlerOptions, "pipeline" | "errorDomain" | "log" | "maxMessageBytes">;

/**
 * How much of a message is received before its caller is authenticated. Node itself receives more, up to
 * `streamWindowBytes`.
 */
const UNVERIFIED_BYTES = 64 * 1024;
const encodeList = listEncoder();
const OK_TRAILERS: OutgoingHttpHeaders = { "grpc-status": "0" };

/** Whether a request's content type is exactly gRPC with binary messages. */
export function isBinaryGrpc(contentType: string | undefined): boolean {
  return contentType === "application/grpc" || contentType === "application/grpc+proto";
}

/**
 * Serves a unary method in gRPC on the bare HTTP/2 stream. A call costs a fraction of what it costs through Connect's
 * adapter, because only the needed objects are made. A client that disconnects is not answered. A deadline ends the
 * answer, but not the work, which its transaction commits whole or not at all. Source: gRPC over HTTP/2.
 */
export function grpcUnary(options: GrpcOptions, method: DescMethodUnary): AnswerStream {
  const { pipeline, errorDomain, log, maxMessageBytes = MAX_MESSAGE_BYTES } = options;
  const isCached = isCacheable(method);
  const name = `${method.parent.typeName}.${method.name}`;
  const area = areaOf(name);

  return async (stream, headers, data) => {
    const { requestId, observed } = data;
    let timer: NodeJS.Timeout | undefined;
    const fail = (code: number, trailers: OutgoingHttpHeaders): void => {
      if (respondWith(stream, requestId, trailers)) observed?.endRpc(code);
    };
    observed?.beginRpc(name);
    try {
      pipeline.admit(data);
      const timeout = headers["grpc-timeout"];
      if (typeof timeout === "string")
        timer = setTimeout(() => fail(DEADLINE_EXCEEDED, deadlineTrailers(area, errorDomain)), grpcTimeoutMs(timeout));
      const { authorization, "user-agent": userAgent = "" } = headers;
      const head = { method, data, authorization, userAgent };
      // Without a token nothing is read of a message that needs one.
      let verified = authorization === undefined ? pipeline.verify(head) : undefined;
      await verified;
      const body = await bodyOf(stream, maxMessageBytes, async () => await (verified ??= pipeline.verify(head)));
      if (body === undefined) return;
      const key =
        isCached && authorization !== undefined && verified === undefined
          ? body.cacheKey(`${name} ${authorization} `)
          : undefined;
      let encoding: Encoding | undefined;
      const answer = await pipeline.answer<Uint8Array | EncodedList>(head, {
        ...BINARY,
        key,
        verified,
        decode: async () => {
          if (isAnswered(stream)) return undefined;
          encoding = encodingOf(headers["grpc-encoding"]);
          return readMessage(method, body.end(), encoding, maxMessageBytes, requestId);
        },
        encode(message) {
          if (isStreamed(message)) return encodeList(message);
          if (!isWritten(message)) return toBinary(method.output, messageOf(message));
          const { bytes, release } = message;
          return { pieces: [...steps(bytes)], size: bytes.length, release };
        },
      });
      if (answer === undefined) return;
      if (!(answer instanceof Uint8Array)) {
        if (await sendList(stream, requestId, answer)) observed?.endRpc(0);
        return;
      }
      // Compressed as the caller compressed its own message: a caller that does not compress is near, or prefers it so.
      const used =
        answer.length < COMPRESS_FROM_BYTES || !isAccepted(encoding, headers["grpc-accept-encoding"])
          ? undefined
          : encoding;
      const bytes = used === undefined ? answer : await used.compress(answer);
      if (answerWith(stream, requestId, bytes, used?.name)) observed?.endRpc(0);
    } catch (thrown) {
      const error = asMoorageError(thrown, log, requestId);
      fail(error.code, failureTrailers(error, area, errorDomain));
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Answers are cached as texts with one character for each byte. Lists that are read while they are sent are not. */
const BINARY: Pick<UnaryCodec<Uint8Array | EncodedList>, "form" | "toCached" | "ofCached"> = {
  form: "binary",
  toCached: (answer) => ({ text: answer instanceof Uint8Array ? packed(answer) : "" }),
  ofCached: ({ text }) => unpacked(text),
};

/**
 * The body up to its last byte, or to the first that is rejected. Undefined when the client disconnects before that.
 * The caller is authenticated afterwards, so that the whole call uses one snapshot of the database; but before more
 * than `UNVERIFIED_BYTES` of a message are received. Rejects as `verify` does.
 */
function bodyOf(
  stream: ServerHttp2Stream,
  maxBytes: number,
  verify: () => Promise<unknown>,
): Promise<UnaryBody | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<UnaryBody | undefined>();
  if (stream.closed || stream.destroyed) resolve(undefined);
  const body = new UnaryBody(maxBytes);
  let isLarge = false;
  stream.on("data", (chunk: Buffer) => {
    if (!body.add(chunk)) return resolve(body);
    if (isLarge || body.announcedBytes <= UNVERIFIED_BYTES) return;
    isLarge = true;
    stream.pause();
    verify().then(() => stream.resume(), reject);
  });
  const ended = (): void => resolve(stream.aborted ? undefined : body);
  // An empty body that came with the headers has ended before anybody listens.
  if (stream.readableEnded) ended();
  stream.on("end", ended);
  stream.on("close", () => resolve(undefined));
  return promise;
}

async function readMessage(
  method: DescMethodUnary,
  { isCompressed, bytes }: Envelope,
  encoding: Encoding | undefined,
  maxBytes: number,
  requestId: string,
): Promise<Message> {
  // gRPC's compression.md demands this code; the request id marks the error as one that may be shown.
  if (isCompressed && encoding === undefined)
    throw new MoorageError(Code.Internal, "Protocol error: a compressed message in a call without grpc-encoding", {
      metadata: { requestId },
    });
  const plain = isCompressed && encoding !== undefined ? await encoding.decompress(bytes, maxBytes) : bytes;
  if (hasMoreFields(method.input, plain, MAX_MESSAGE_VALUES)) throw tooManyValues();
  try {
    return fromBinary(method.input, plain);
  } catch (error) {
    throw new MoorageError(Code.InvalidArgument, "Invalid argument: the message cannot be read", { cause: error });
  }
}

/**
 * Sends headers, message and trailers together. Returns false when the stream was answered already or its client has
 * gone.
 */
function answerWith(
  stream: ServerHttp2Stream,
  requestId: string,
  message: Uint8Array,
  encoding: string | undefined,
): boolean {
  if (isAnswered(stream)) return false;
  const head: OutgoingHttpHeaders = {
    ":status": 200,
    "content-type": "application/grpc+proto",
    "x-request-id": requestId,
  };
  if (encoding !== undefined) head["grpc-encoding"] = encoding;
  stream.on("wantTrailers", sendOkTrailers);
  stream.respond(head, { waitForTrailers: true });
  stream.end(enveloped(message, encoding !== undefined));
  return true;
}

/** Sends a list, uncompressed, as fast as the client takes it. Returns what `answerWith` returns. */
async function sendList(stream: ServerHttp2Stream, requestId: string, list: EncodedList): Promise<boolean> {
  const { pieces, size, release } = list;
  try {
    if (isAnswered(stream)) return false;
    stream.on("wantTrailers", sendOkTrailers);
    const head = { ":status": 200, "content-type": "application/grpc+proto", "x-request-id": requestId };
    stream.respond(head, { waitForTrailers: true });
    await piped(Readable.from([envelope(size), ...pieces]), stream);
    return true;
  } catch {
    // The client has gone.
    return false;
  } finally {
    release();
  }
}

/**
 * Sends a failure as one block of headers. Returns false when the stream was answered already or its client has gone.
 * Source: gRPC over HTTP/2, Trailers-Only.
 */
function respondWith(stream: ServerHttp2Stream, requestId: string, trailers: OutgoingHttpHeaders): boolean {
  if (isAnswered(stream)) return false;
  const head = {
    ":status": 200,
    "content-type": "application/grpc+proto",
    "x-request-id": requestId,
    "grpc-accept-encoding": ACCEPTED_ENCODINGS,
  };
  stream.respond({ ...head, ...trailers }, { endStream: true });
  if (!stream.readableEnded) dropBody(stream);
  return true;
}

/**
 * Reads and drops the rest of an answered call's body for some time: closing the stream immediately could lose the
 * answer.
 */
function dropBody(stream: ServerHttp2Stream): void {
  stream.removeAllListeners("data").resume();
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), PORT_LIMITS.lingerTimeoutMs).unref();
  stream.once("close", () => clearTimeout(timer));
}

/** Whether the stream was answered, also by a deadline, or its client has gone. */
function isAnswered(stream: ServerHttp2Stream): boolean {
  return stream.headersSent || stream.closed || stream.destroyed;
}

function sendOkTrailers(this: ServerHttp2Stream): void {
  this.sendTrailers(OK_TRAILERS);
}
