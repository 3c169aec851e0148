import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RequestInfoSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
} from "../gen/google/rpc/error_details_pb.ts";

/** A field of the request that the server does not accept. */
export interface FieldViolation {
  /** The field's path, such as `oidc.issuer`. */
  readonly field: string;
  /** What is wrong with it, for people. */
  readonly description: string;
}

/** A condition that must hold before the call can succeed, such as terms that were not accepted. */
export interface PreconditionViolation {
  /** The kind of condition, in capitals, such as `TERMS_NOT_ACCEPTED`. */
  readonly type: string;
  /** What it is about. */
  readonly subject: string;
  /** What to do, for people. */
  readonly description: string;
}

/** A failed call, with the details that the server sent with it (AIP-193). */
export class ApiError extends Error {
  override name = "ApiError";
  /** The gRPC status code. UNAVAILABLE also when the server cannot be reached. */
  readonly code: Code;
  /** The reason in capitals, such as `NOT_FOUND`, which programs can decide by. Empty if the server did not answer. */
  readonly reason: string;
  /** What the reason is about, by name. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The fields that were not accepted, for INVALID_ARGUMENT. */
  readonly fieldViolations: readonly FieldViolation[];
  /** The conditions that were not met, for FAILED_PRECONDITION. */
  readonly preconditionViolations: readonly PreconditionViolation[];
  /** Type and uid of the resource that is missing, or exists already. */
  readonly resource: { readonly type: string; readonly name: string } | undefined;
  /** After how many milliseconds the server asks to be called again. */
  readonly retryDelayMs: number | undefined;
  /** The id by which the operator finds the call in the server's log. */
  readonly requestId: string | undefined;
  /** The error as the transport has it; its `findDetails` reads any other detail. */
  override readonly cause: ConnectError;

  /** The error of a call, from whatever was thrown. */
  constructor(thrown: unknown) {
    const error = ConnectError.from(thrown);
    super(error.rawMessage);
    this.cause = error;
    // fetch rejects with a TypeError when there is no connection, or it breaks (Fetch standard, "network error").
    this.code = error.code === Code.Unknown && error.cause instanceof TypeError ? Code.Unavailable : error.code;
    const [info] = error.findDetails(ErrorInfoSchema);
    this.reason = info?.reason ?? "";
    this.metadata = info?.metadata ?? {};
    this.fieldViolations = error.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
    this.preconditionViolations = error.findDetails(PreconditionFailureSchema)[0]?.violations ?? [];
    const [resource] = error.findDetails(ResourceInfoSchema);
    this.resource = resource && { type: resource.resourceType, name: resource.resourceName };
    const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
    this.retryDelayMs = delay && durationMs(delay);
    this.requestId =
      error.findDetails(RequestInfoSchema)[0]?.requestId ?? error.metadata.get("x-request-id") ?? undefined;
  }
}
