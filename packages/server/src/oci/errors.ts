import { Code, MoorageError } from "../errors.ts";
import type { ErrorDetails } from "../errors.ts";

/**
 * The error codes of the OCI distribution specification v1.1, and the status and AIP-193 code each usually goes with.
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
  UNAUTHORIZED: [401, Code.Unauthenticated],
  DENIED: [403, Code.PermissionDenied],
  UNSUPPORTED: [405, Code.Unimplemented],
  TOOMANYREQUESTS: [429, Code.ResourceExhausted],
} as const satisfies Record<string, readonly [number, Code]>;
export type OciCode = keyof typeof OCI;

export interface RegistryErrorOptions {
  /** Instead of the code's usual status. */
  status?: number;
  headers?: Record<string, string>;
  /** The `detail` of the OCI error: what may help the client. */
  detail?: unknown;
  details?: ErrorDetails;
}

/**
 * An error in the registry's own words. Thrown inside a command it loses all but code and message: `ociCode` in the
 * metadata keeps its name.
 */
export class RegistryError extends MoorageError {
  readonly ociCode: OciCode;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly detail: unknown;

  constructor(ociCode: OciCode, message: string, options: RegistryErrorOptions = {}) {
    const [status, code] = OCI[ociCode];
    const details = options.details ?? {};
    super(code, message, { ...details, metadata: { ...details.metadata, ociCode } });
    this.name = "RegistryError";
    this.ociCode = ociCode;
    this.status = options.status ?? status;
    this.headers = options.headers ?? {};
    this.detail = options.detail;
  }
}

/** How an error leaves the door. */
export interface ErrorAnswer {
  status: number;
  ociCode: OciCode | "UNKNOWN";
  error: MoorageError;
  headers: Record<string, string>;
  detail: unknown;
}

const PLAIN: Partial<Record<Code, readonly [number, OciCode]>> = {
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

/** What a DENIED says of the missing right, from its metadata: see `denied` in names.ts. */
function lackOf({ details: { metadata = {} } }: MoorageError): object | undefined {
  const { identity, capability, repository } = metadata;
  return capability === undefined || repository === undefined ? undefined : { identity, capability, repository };
}

/** The answer to whatever was thrown. An error nobody foresaw shows nothing of itself but the request id. */
export function errorAnswer(thrown: unknown, requestId: string): ErrorAnswer {
  if (thrown instanceof RegistryError)
    return {
      status: thrown.status,
      ociCode: thrown.ociCode,
      error: thrown,
      headers: thrown.headers,
      detail: thrown.detail,
    };
  if (thrown instanceof MoorageError) {
    // What crossed from the writing thread is a plain MoorageError again; its name came along in the metadata.
    const ociCode = thrown.details.metadata?.["ociCode"];
    if (isOciCode(ociCode))
      return { status: OCI[ociCode][0], ociCode, error: thrown, headers: {}, detail: lackOf(thrown) };
    const plain = PLAIN[thrown.code];
    const headers: Record<string, string> = {};
    const retryAfterMs =
      thrown.details.retryAfterMs ??
      (thrown.code === Code.ResourceExhausted || thrown.code === Code.Unavailable ? 1000 : undefined);
    if (retryAfterMs !== undefined) headers["retry-after"] = String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
    if (plain) return { status: plain[0], ociCode: plain[1], error: thrown, headers, detail: undefined };
    if (thrown.code === Code.Unavailable)
      return { status: 503, ociCode: "UNKNOWN", error: thrown, headers, detail: undefined };
  }
  const error = new MoorageError(Code.Internal, "Internal error", { metadata: { requestId }, cause: thrown });
  return { status: 500, ociCode: "UNKNOWN", error, headers: {}, detail: undefined };
}

/**
 * For a list that is empty where there is no repository: answers nothing for NAME_UNKNOWN, throws anything else again.
 */
export function noneIfUnknown(error: unknown): undefined {
  if (!(error instanceof RegistryError) || error.ociCode !== "NAME_UNKNOWN") throw error;
}
