import { Code, invalidArgument, MoorageError } from "@moorage/kernel/errors";
import type { ErrorDetails, FieldViolation } from "@moorage/kernel/errors";
import { FULL, lacksSpace, unexpectedFault } from "@moorage/kernel/lib/storage-fault";
import { quotaOfError, quotaWords } from "../registry/index.ts";

/**
 * The error codes of the OCI distribution specification v1.1, and two of the Docker registry API, each with its usual
 * HTTP status and AIP-193 code.
 */
const OCI = {
  BLOB_UNKNOWN: [404, Code.NotFound],
  BLOB_UPLOAD_INVALID: [400, Code.InvalidArgument],
  BLOB_UPLOAD_UNKNOWN: [404, Code.NotFound],
  DIGEST_INVALID: [400, Code.InvalidArgument],
  MANIFEST_BLOB_UNKNOWN: [400, Code.FailedPrecondition],
  MANIFEST_INVALID: [400, Code.InvalidArgument],
  MANIFEST_UNKNOWN: [404, Code.NotFound],
  NAME_INVALID: [400, Code.InvalidArgument],
  NAME_UNKNOWN: [404, Code.NotFound],
  SIZE_INVALID: [400, Code.InvalidArgument],
  PAGINATION_NUMBER_INVALID: [400, Code.InvalidArgument],
  RANGE_INVALID: [416, Code.InvalidArgument],
  UNAUTHORIZED: [401, Code.Unauthenticated],
  DENIED: [403, Code.PermissionDenied],
  UNSUPPORTED: [405, Code.Unimplemented],
  TOOMANYREQUESTS: [429, Code.ResourceExhausted],
} as const satisfies Record<string, readonly [number, Code]>;
export type OciCode = keyof typeof OCI;

export interface RegistryErrorOptions {
  /** Replaces the usual status of the code. */
  status?: number;
  headers?: Record<string, string>;
  /** The `detail` of the OCI error: data that may help the client. */
  detail?: unknown;
  details?: ErrorDetails;
  /** Whether the audit log has it as a rejection, whatever its code. */
  isRejection?: boolean;
}

/**
 * An error with an OCI error code. An error that crosses from the writer thread retains only its code, message and
 * details, so the metadata carry `ociCode` as well.
 */
export class RegistryError extends MoorageError {
  readonly ociCode: OciCode;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly detail: unknown;
  readonly isRejection: boolean;

  constructor(ociCode: OciCode, message: string, options: RegistryErrorOptions = {}) {
    const [status, code] = OCI[ociCode];
    const details = options.details ?? {};
    super(code, message, { ...details, metadata: { ...details.metadata, ociCode } });
    this.name = "RegistryError";
    this.ociCode = ociCode;
    this.status = options.status ?? status;
    this.headers = options.headers ?? {};
    this.detail = options.detail;
    this.isRejection = options.isRejection ?? false;
  }
}

/** The HTTP response to an error. */
export interface ErrorAnswer {
  status: number;
  ociCode: OciCode | "UNKNOWN";
  error: MoorageError;
  headers: Record<string, string>;
  detail: unknown;
  /** The text beside the status in HTTP/1.1. Defaults to that of the status. */
  reason?: string;
}

// The answers to errors without an OCI code, as the services throw them.
const WITHOUT_OCI_CODE: Partial<Record<Code, readonly [number, OciCode]>> = {
  [Code.InvalidArgument]: [400, "UNSUPPORTED"],
  [Code.NotFound]: [404, "NAME_UNKNOWN"],
  [Code.AlreadyExists]: [409, "DENIED"],
  [Code.PermissionDenied]: [403, "DENIED"],
  [Code.ResourceExhausted]: [429, "TOOMANYREQUESTS"],
  [Code.FailedPrecondition]: [400, "DENIED"],
  [Code.Aborted]: [409, "BLOB_UPLOAD_INVALID"],
  [Code.Unimplemented]: [405, "UNSUPPORTED"],
  [Code.Unauthenticated]: [401, "UNAUTHORIZED"],
};

function isOciCode(text: string | undefined): text is OciCode {
  return text !== undefined && text in OCI;
}

/**
 * The `detail` of a DENIED error from its metadata, which `denied` in oci/names.ts wrote: the identity, the capability
 * it lacks, and the repository.
 */
function missingRightOf({ details: { metadata = {} } }: MoorageError): object | undefined {
  const { identity, capability, repository } = metadata;
  return capability === undefined || repository === undefined ? undefined : { identity, capability, repository };
}

/** The response to any thrown value. An unexpected error shows the client only the request id. */
export function errorAnswer(error: unknown, requestId: string): ErrorAnswer {
  const thrown = unexpectedFault(error) ?? error;
  if (thrown instanceof RegistryError)
    return {
      status: thrown.status,
      ociCode: thrown.ociCode,
      error: thrown,
      headers: thrown.headers,
      detail: thrown.detail,
    };
  if (thrown instanceof MoorageError) {
    // An error from the writer thread is a plain MoorageError; its OCI code is in the metadata.
    const ociCode = thrown.details.metadata?.["ociCode"];
    if (isOciCode(ociCode))
      return { status: OCI[ociCode][0], ociCode, error: thrown, headers: {}, detail: missingRightOf(thrown) };
    const plain = WITHOUT_OCI_CODE[thrown.code];
    const headers: Record<string, string> = {};
    const retryAfterMs =
      thrown.details.retryAfterMs ??
      (thrown.code === Code.ResourceExhausted || thrown.code === Code.Unavailable ? 1000 : undefined);
    if (retryAfterMs !== undefined) headers["retry-after"] = String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
    // Not 429, after which clients try again: that helps nothing.
    if (quotaOfError(thrown) !== undefined)
      return { status: 403, ociCode: "DENIED", error: inQuotaWords(thrown), headers: {}, detail: undefined };
    if (lacksSpace(thrown)) return fullAnswer(thrown, headers);
    if (plain) return { status: plain[0], ociCode: plain[1], error: thrown, headers, detail: undefined };
    if (thrown.code === Code.Unavailable)
      return { status: 503, ociCode: "UNKNOWN", error: thrown, headers, detail: undefined };
  }
  const internal = new MoorageError(Code.Internal, "Internal error", { metadata: { requestId }, cause: thrown });
  return { status: 500, ociCode: "UNKNOWN", error: internal, headers: {}, detail: undefined };
}

/** Clients show the message alone: it is how much there is, is used and is needed. */
function inQuotaWords(error: MoorageError): MoorageError {
  return new MoorageError(error.code, quotaWords(error), error.details);
}

/**
 * A store is full: 507, which clients do not repeat as they do 429. DENIED is the code after which those that look at
 * it give up; docker and skopeo print of a status from 500 on nothing but what stands beside it.
 */
function fullAnswer(error: MoorageError, headers: Record<string, string>): ErrorAnswer {
  const reason = `Insufficient Storage: ${FULL}`;
  return { status: 507, ociCode: "DENIED", error, headers, detail: { reason: "STORAGE_FULL" }, reason };
}

/** A parameter of a request is invalid: 400 with this code, and every violated parameter. */
export function rejected(ociCode: OciCode, ...violations: FieldViolation[]): RegistryError {
  const { message, details } = invalidArgument(...violations);
  return new RegistryError(ociCode, message, { status: 400, details });
}

/**
 * Error handler of lists that are empty when there is no repository: returns undefined for NAME_UNKNOWN, rethrows any
 * other error.
 */
export function undefinedIfUnknown(error: unknown): undefined {
  if (!(error instanceof RegistryError) || error.ociCode !== "NAME_UNKNOWN") throw error;
}
