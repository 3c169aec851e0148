import { create, toJson } from "@bufbuild/protobuf";
import type { DescMessage, JsonObject, Message } from "@bufbuild/protobuf";
import { TermsNotAcceptedDetailSchema } from "@moorage/api/messages";
import { anyPack, durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RequestInfoSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
} from "@moorage/api/gen/google/rpc/error_details_pb";
import { StatusSchema } from "@moorage/api/gen/google/rpc/status_pb";
import type { Status } from "@moorage/api/gen/google/rpc/status_pb";
import type { Logger } from "pino";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { unexpectedFault } from "@moorage/kernel/lib/storage-fault";

/** The log for unexpected errors. */
export type ErrorLog = Pick<Logger, "error">;

/** A detail of a status with its descriptor: a message of google/rpc/error_details.proto, or one of ours. */
export interface Detail {
  desc: DescMessage;
  value: Message;
}

// Source: docs/contract.md, "Errors".
const HTTP_STATUS: Record<Code, number> = {
  3: 400,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  12: 501,
  13: 500,
  14: 503,
  15: 500,
  16: 401,
};

/** The HTTP status of an error's code. Source: docs/contract.md, "Errors". */
export function httpStatus(code: Code): number {
  return HTTP_STATUS[code];
}

/** The API area of a full service, method or message name: "iam" of `moorage.iam.v2.GroupsService`. */
export function areaOf(typeName: string): string {
  return typeName.split(".")[1] ?? typeName;
}

/**
 * The details of an error: exactly one ErrorInfo, then the others that the error has. `area` is the called method's,
 * unless the error has its own; `errorDomain` is the configured suffix. Source: docs/contract.md, "Errors"; AIP-193.
 */
export function errorDetails(error: MoorageError, area: string, errorDomain: string): Detail[] {
  const {
    metadata = {},
    fieldViolations = [],
    preconditionViolations = [],
    missingTerms = [],
    resource,
    retryAfterMs,
  } = error.details;
  const domain = `${error.details.area ?? area}.${errorDomain}`;
  const details: Detail[] = [
    { desc: ErrorInfoSchema, value: create(ErrorInfoSchema, { reason: error.reason, domain, metadata }) },
  ];
  if (fieldViolations.length > 0)
    details.push({ desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations }) });
  if (preconditionViolations.length > 0) {
    details.push({
      desc: PreconditionFailureSchema,
      value: create(PreconditionFailureSchema, { violations: preconditionViolations }),
    });
  }
  if (missingTerms.length > 0) {
    const value = create(TermsNotAcceptedDetailSchema, { missing: missingTerms });
    details.push({ desc: TermsNotAcceptedDetailSchema, value });
  }
  if (resource !== undefined) {
    const value = create(ResourceInfoSchema, {
      resourceType: resource.type,
      resourceName: resource.name,
      description: error.message,
    });
    details.push({ desc: ResourceInfoSchema, value });
  }
  if (retryAfterMs !== undefined) {
    details.push({
      desc: RetryInfoSchema,
      value: create(RetryInfoSchema, { retryDelay: durationFromMs(Math.ceil(retryAfterMs)) }),
    });
  }
  const requestId = metadata["requestId"];
  if (requestId !== undefined)
    details.push({ desc: RequestInfoSchema, value: create(RequestInfoSchema, { requestId }) });
  return details;
}

/** The error in the form of gRPC's `grpc-status-details-bin`. Parameters as in `errorDetails`. */
export function toStatus(error: MoorageError, area: string, errorDomain: string): Status {
  const details = errorDetails(error, area, errorDomain).map((detail) => anyPack(detail.desc, detail.value));
  return create(StatusSchema, { code: error.code, message: error.message, details });
}

/**
 * The error in the form of REST bodies: `{code, message, details: [{"@type", …}]}`; empty fields are left out. Source:
 * AIP-193.
 */
export function statusJson(error: MoorageError, area: string, errorDomain: string): JsonObject {
  // Not by a message of Any, which encodes each detail and decodes it again: clients that push ask for each blob first,
  // and are answered that it is missing.
  const details = errorDetails(error, area, errorDomain).map(({ desc, value }) => ({
    // The JSON of a message other than a well-known type is always an object.
    ...(toJson(desc, value) as JsonObject),
    "@type": `type.googleapis.com/${desc.typeName}`,
  }));
  const { code, message } = error;
  return { code, ...(message !== "" && { message }), details };
}

/**
 * Turns whatever was thrown into an error that may be shown. An error that is not a MoorageError, or is an internal
 * one, is logged here with its cause and becomes INTERNAL with only the request id, or UNAVAILABLE where the machine's
 * storage is at fault. An error that already carries the id is returned unchanged, so it is logged once.
 */
export function asMoorageError(error: unknown, log: ErrorLog, requestId: string): MoorageError {
  if (
    error instanceof MoorageError &&
    (error.code !== Code.Internal || error.details.metadata?.["requestId"] !== undefined)
  )
    return error;
  log.error({ err: error, requestId }, "request failed unexpectedly");
  const fault = unexpectedFault(error);
  if (fault !== undefined) return fault;
  return new MoorageError(Code.Internal, "Internal error", { metadata: { requestId }, cause: error });
}
