import { create, createRegistry, toJson } from "@bufbuild/protobuf";
import type { DescMessage, JsonObject, Message } from "@bufbuild/protobuf";
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
import { Code, MoorageError } from "../errors.ts";

/** Where errors nobody foresaw are told. */
export type ErrorLog = Pick<Logger, "error">;

/** One detail of a status with its descriptor: a message of google/rpc/error_details.proto. */
export interface Detail {
  desc: DescMessage;
  value: Message;
}

const DETAILS = createRegistry(
  ErrorInfoSchema,
  BadRequestSchema,
  PreconditionFailureSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
  RequestInfoSchema,
);

// Contract §6.
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
  16: 401,
};

/** The HTTP status of an error's code. Source: contract §6. */
export function httpStatus(code: Code): number {
  return HTTP_STATUS[code];
}

/** The service area a full service, method or message name belongs to: "iam" of `moorage.iam.v2.GroupsService`. */
export function areaOf(typeName: string): string {
  return typeName.split(".")[1] ?? typeName;
}

/**
 * What the error says beside code and message: exactly one ErrorInfo, then what it has of the others. `area` is that of
 * the method called, unless the error names its own; `errorDomain` is the configured suffix. Source: spec.md Errors,
 * contract §6, AIP-193.
 */
export function errorDetails(error: MoorageError, area: string, errorDomain: string): Detail[] {
  const { metadata = {}, fieldViolations = [], preconditionViolations = [], resource, retryAfterMs } = error.details;
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

/** The error as gRPC carries it in `grpc-status-details-bin`. Parameters as in `errorDetails`. */
export function toStatus(error: MoorageError, area: string, errorDomain: string): Status {
  const details = errorDetails(error, area, errorDomain).map((detail) => anyPack(detail.desc, detail.value));
  return create(StatusSchema, { code: error.code, message: error.message, details });
}

/**
 * The error as REST bodies carry it: `{code, message, details: [{"@type", …}]}`; empty fields are left out. Source:
 * AIP-193.
 */
export function statusJson(error: MoorageError, area: string, errorDomain: string): JsonObject {
  // The JSON of a message other than a well-known type is always an object.
  return toJson(StatusSchema, toStatus(error, area, errorDomain), { registry: DETAILS }) as JsonObject;
}

/**
 * Whatever was thrown as an error that may be shown. What is not a MoorageError, or is an internal one, is logged here
 * with its cause and becomes INTERNAL with nothing but the request id, once: an error that already carries the id
 * passes as it is.
 */
export function asMoorageError(error: unknown, log: ErrorLog, requestId: string): MoorageError {
  if (
    error instanceof MoorageError &&
    (error.code !== Code.Internal || error.details.metadata?.["requestId"] !== undefined)
  )
    return error;
  log.error({ err: error, requestId }, "request failed unexpectedly");
  return new MoorageError(Code.Internal, "Internal error", { metadata: { requestId }, cause: error });
}
