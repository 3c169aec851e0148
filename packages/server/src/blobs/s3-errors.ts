import { Code, MoorageError, notFound } from "../errors.ts";

const RETRY_AFTER_MS = 5_000;

// Error names of the network, Node and the SDK for a server that cannot be reached or does not answer.
const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "ERR_STREAM_PREMATURE_CLOSE",
  "TimeoutError",
  "CredentialsProviderError",
]);
const BUSY = new Set([
  "SlowDown",
  "Throttling",
  "ThrottlingException",
  "RequestLimitExceeded",
  "TooManyRequests",
  "TooManyRequestsException",
  "RequestTimeout",
  "OperationAborted",
]);
const FULL = new Set(["InsufficientStorage", "XMinioStorageFull", "QuotaExceeded", "ServiceQuotaExceededException"]);

/** S3's name of an error, and the HTTP status of its response. */
export function s3Error(error: unknown): { name: string; status?: number; code?: string } {
  if (!(error instanceof Error)) return { name: "" };
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  return {
    name: error.name,
    status: $metadata?.httpStatusCode,
    code: "code" in error && typeof error.code === "string" ? error.code : undefined,
  };
}

/** Whether the condition of a request was not met: another writer was first, or the object has changed. */
export function isConflict(error: unknown): boolean {
  const { name, status } = s3Error(error);
  return status === 412 || name === "PreconditionFailed" || name === "ConditionalRequestConflict";
}

/**
 * A server that stores objects as files may fail to write one below a folder that it is just removing. A retry
 * succeeds.
 */
export function isFolderRace(error: unknown): boolean {
  return s3Error(error).name === "ExistingObjectIsDirectory";
}

export function isMissing(error: unknown): boolean {
  const { name } = s3Error(error);
  return name === "NoSuchKey" || name === "NotFound" || name === "NoSuchUpload";
}

export function isUnsupported(error: unknown): boolean {
  const { name, status } = s3Error(error);
  return status === 501 || name === "NotImplemented";
}

/** Wraps an error of the source or sink, so that it is not mistaken for one of S3. */
export class SourceFailed extends Error {
  constructor(cause: unknown) {
    super("not the store's error", { cause });
  }
}

/** Runs the work and translates its errors; a missing object is NOT_FOUND of that type and name. */
export async function withS3Errors<T>(type: string, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SourceFailed ? error.cause : translated(error, type, name);
  }
}

/** The items of a list, with its errors translated. */
export async function* eachWithS3Errors<T>(list: () => AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* list();
  } catch (error) {
    throw translated(error, "Bucket", "");
  }
}

/**
 * Translates an error for the services. An error that only the operator can fix, such as rejected credentials, is
 * returned unchanged and logged as unexpected.
 */
export function translated(error: unknown, type: string, name: string): unknown {
  if (error instanceof MoorageError) return error;
  if (isMissing(error)) return notFound(type, name);
  if (isConflict(error)) return aborted(error);
  const { name: s3Name, status, code } = s3Error(error);
  if (FULL.has(s3Name) || status === 507)
    return new MoorageError(Code.ResourceExhausted, "Storage is full", { cause: error, retryAfterMs: 60_000 });
  const unavailable =
    UNREACHABLE.has(code ?? "") ||
    UNREACHABLE.has(s3Name) ||
    BUSY.has(s3Name) ||
    status === 429 ||
    (status !== undefined && status >= 500);
  return unavailable
    ? new MoorageError(Code.Unavailable, "Blob storage is unavailable", { cause: error, retryAfterMs: RETRY_AFTER_MS })
    : error;
}

export function aborted(cause?: unknown): MoorageError {
  return new MoorageError(Code.Aborted, "Another request is working on this upload", { cause });
}
