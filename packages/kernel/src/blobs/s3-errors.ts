import { Code, MoorageError, notFound, type StorageReason } from "../errors.ts";
import { storageFault } from "../lib/storage-fault.ts";
import { damaged } from "./verify.ts";

// Error names of the network, Node and the SDK for a server that cannot be reached or does not answer.
const SILENT = new Set(["ETIMEDOUT", "TimeoutError", "RequestTimeout"]);
const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_DESTROYED",
]);
const BUSY = new Set([
  "SlowDown",
  "Throttling",
  "ThrottlingException",
  "RequestLimitExceeded",
  "TooManyRequests",
  "TooManyRequestsException",
  "OperationAborted",
]);
// Only the operator can change these.
const DENIED = new Set([
  "AccessDenied",
  "AccountProblem",
  "AllAccessDisabled",
  "CredentialsProviderError",
  "ExpiredToken",
  "InvalidAccessKeyId",
  "InvalidToken",
  "NotSignedUp",
  "RequestTimeTooSkewed",
  "SignatureDoesNotMatch",
  "TokenRefreshRequired",
]);
// The server got other bytes than were sent.
const SPOILED = new Set(["BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch"]);
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

/** An object has another size than it should. */
export class WrongSize extends Error {}

/**
 * Whether a retry that the SDK does not make by itself succeeds: a server that stores objects as files may fail to
 * write one below a folder that it is just removing; or a body was spoiled on its way.
 */
export function isRetried(error: unknown): boolean {
  const { name } = s3Error(error);
  return name === "ExistingObjectIsDirectory" || SPOILED.has(name);
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

/** Whether the same request may succeed a moment later: the connection broke, or the server was silent. */
export function isPassing(error: unknown): boolean {
  const { name, code = "" } = s3Error(error);
  return [SILENT, UNREACHABLE].some((names) => names.has(code) || names.has(name));
}

/** What keeps the server from its work; undefined when the error says nothing of that kind. */
function reasonOf(error: unknown): StorageReason | undefined {
  const { name, status = 0, code = "" } = s3Error(error);
  if (FULL.has(name) || status === 507) return "full";
  if (BUSY.has(name) || status === 429 || status === 503) return "overloaded";
  if (SILENT.has(name) || SILENT.has(code) || status === 504) return "silent";
  if (UNREACHABLE.has(name) || UNREACHABLE.has(code) || status === 502) return "unreachable";
  if (name === "NoSuchBucket") return "missing";
  if (DENIED.has(name) || status === 401 || status === 403) return "denied";
  return SPOILED.has(name) || status >= 500 || error instanceof WrongSize ? "io_error" : undefined;
}

/** Translates an error for the services. One that nobody expected is returned unchanged. */
function translated(error: unknown, type: string, name: string): unknown {
  if (error instanceof MoorageError) return error;
  if (isMissing(error)) return notFound(type, name);
  if (isConflict(error)) return aborted(error);
  if (error instanceof WrongSize && type === "Blob") return damaged(name, "has another size than it should", error);
  const reason = reasonOf(error);
  return reason === undefined ? error : storageFault({ part: "blobs", reason }, error);
}

export function aborted(cause?: unknown): MoorageError {
  return new MoorageError(Code.Aborted, "Another request is working on this upload", { cause });
}
