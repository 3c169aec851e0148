import { create } from "@bufbuild/protobuf";
import { Code as ConnectCode, ConnectError } from "@connectrpc/connect";
import type { HandlerContext } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { CodeSchema } from "@moorage/api/gen/google/rpc/code_pb";
import { ErrorInfoSchema } from "@moorage/api/gen/google/rpc/error_details_pb";
import { Code } from "@moorage/kernel/errors";
import type { MoorageError } from "@moorage/kernel/errors";
import { areaOf, errorDetails } from "../status.ts";

/**
 * The error for Connect's three protocols, with the same details as in REST. Its metadata become headers in Connect,
 * trailers in gRPC.
 */
export function toConnectError(error: MoorageError, area: string, errorDomain: string): ConnectError {
  const metadata = new Headers();
  if (error.code === Code.Unauthenticated) metadata.set("www-authenticate", "Bearer");
  if (error.details.retryAfterMs !== undefined)
    metadata.set("retry-after", String(Math.ceil(error.details.retryAfterMs / 1000)));
  return new ConnectError(error.message, error.code, metadata, errorDetails(error, area, errorDomain), error);
}

/**
 * Adds the ErrorInfo to the errors that Connect itself raises (an unreadable message, one too large, a deadline) before
 * it writes the answer: Connect aborts the call's signal with the error just before. An INTERNAL error before
 * `isRead()` becomes INVALID_ARGUMENT, as it is over Connect's JSON, because the caller sent bytes that are not a
 * message. Source: docs/contract.md, "Errors".
 */
export function completeErrors({ signal, service }: HandlerContext, errorDomain: string, isRead: () => boolean): void {
  const complete = (): void => {
    const error: unknown = signal.reason;
    if (!(error instanceof ConnectError) || error.details.length > 0) return;
    // The property is read-only for users of Connect's errors, but Connect made this error for this answer.
    if (error.code === ConnectCode.Internal && !isRead()) Object.assign(error, { code: ConnectCode.InvalidArgument });
    const reason = CodeSchema.value[error.code]?.name ?? "UNKNOWN";
    error.details.push({
      desc: ErrorInfoSchema,
      value: create(ErrorInfoSchema, { reason, domain: `${areaOf(service.typeName)}.${errorDomain}` }),
    });
  };
  if (signal.aborted) complete();
  else signal.addEventListener("abort", complete, { once: true });
}

/**
 * Connect escapes every reserved character of `grpc-message`. Clients that undo only the escapes of the gRPC
 * specification (grpc-js) would show `not found%3A`. The message is known when the body has ended.
 */
export function readableMessage(answer: UniversalServerResponse): UniversalServerResponse {
  const { body, trailer } = answer;
  if (!body || !trailer) return answer;
  async function* rewritten(inner: AsyncIterable<Uint8Array>, trailer: Headers): AsyncGenerator<Uint8Array> {
    yield* inner;
    const message = trailer.get("grpc-message");
    if (message !== null) trailer.set("grpc-message", encodeURI(decodeURIComponent(message)));
  }
  return { ...answer, body: rewritten(body, trailer) };
}
