import type { OutgoingHttpHeaders } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { ErrorInfoSchema } from "@moorage/api/gen/google/rpc/error_details_pb";
import { StatusSchema } from "@moorage/api/gen/google/rpc/status_pb";
import type { Status } from "@moorage/api/gen/google/rpc/status_pb";
import { Code } from "@moorage/kernel/errors";
import type { MoorageError } from "@moorage/kernel/errors";
import { toStatus } from "../status.ts";

/** DEADLINE_EXCEEDED, which no service throws. */
export const DEADLINE_EXCEEDED = 4;

/**
 * The trailers of a failed call: `grpc-status`, `grpc-message`, the details, and the headers that REST sends.
 * Parameters as in `errorDetails`.
 */
export function failureTrailers(error: MoorageError, area: string, errorDomain: string): OutgoingHttpHeaders {
  const trailers = statusTrailers(toStatus(error, area, errorDomain));
  if (error.code === Code.Unauthenticated) trailers["www-authenticate"] = "Bearer";
  if (error.details.retryAfterMs !== undefined)
    trailers["retry-after"] = String(Math.ceil(error.details.retryAfterMs / 1000));
  return trailers;
}

/** The trailers of a call whose deadline has passed. */
export function deadlineTrailers(area: string, errorDomain: string): OutgoingHttpHeaders {
  const info = create(ErrorInfoSchema, { reason: "DEADLINE_EXCEEDED", domain: `${area}.${errorDomain}` });
  return statusTrailers(
    create(StatusSchema, {
      code: DEADLINE_EXCEEDED,
      message: "Deadline exceeded",
      details: [anyPack(ErrorInfoSchema, info)],
    }),
  );
}

// HTTP/2 libraries limit the size of a header block, Node's own to 64 KiB; with a larger one the caller would lose the
// whole status.
const MAX_MESSAGE_LENGTH = 4096;
const MAX_DETAILS_LENGTH = 32 * 1024;

function statusTrailers(status: Status): OutgoingHttpHeaders {
  const trailers: OutgoingHttpHeaders = {
    "grpc-status": String(status.code),
    "grpc-message": percentEncoded(status.message.slice(0, MAX_MESSAGE_LENGTH)),
  };
  const details = Buffer.from(toBinary(StatusSchema, status))
    .toString("base64")
    .replace(/={1,2}$/, "");
  if (details.length <= MAX_DETAILS_LENGTH) trailers["grpc-status-details-bin"] = details;
  return trailers;
}

/**
 * The form of `grpc-message`: all but printable ASCII, and `%`, as percent-encoded UTF-8. Source: gRPC over HTTP/2,
 * Percent-Encoded.
 */
export function percentEncoded(text: string): string {
  if (!/[^\x20-\x24\x26-\x7e]/.test(text)) return text;
  let encoded = "";
  for (const byte of Buffer.from(text)) {
    encoded +=
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}
