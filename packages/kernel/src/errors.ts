/** The gRPC status codes in use. Source: docs/contract.md, "Errors". */
export const Code = {
  InvalidArgument: 3,
  NotFound: 5,
  AlreadyExists: 6,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  Aborted: 10,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
  DataLoss: 15,
  Unauthenticated: 16,
} as const;
export type Code = (typeof Code)[keyof typeof Code];

/** One invalid field: its camelCase path relative to the resource (`claimMatch.issuer`) and what is wrong with it. */
export interface FieldViolation {
  field: string;
  description: string;
}
/**
 * One precondition that is not met. `type`: RESOURCE_NOT_EMPTY, RESOURCE_IN_USE, BUILT_IN_RESOURCE, TERMS_NOT_ACCEPTED,
 * TOO_MANY_SUBSCRIPTIONS, LAST_OWNER, or why an invite cannot be accepted; for mails NO_MAIL or ANOTHER_ADDRESS; for
 * advisories EVENT_REVIEWED or TOO_MANY_EVENTS; for tags TAG_IMMUTABLE, TAG_PROTECTED, TAG_MISSING, NOT_IN_HISTORY,
 * MANIFEST_MISSING or VULNERABILITY_GATE; for images IMAGE_NOT_READ or CONFIG_NOT_READ; for large answers
 * ANSWER_TOO_LARGE; for the feed CURSOR_EXPIRED.
 */
export interface PreconditionViolation {
  type: string;
  subject: string;
  description: string;
}

/** Why a store cannot do its work for now. Metrics have it as a label. */
export type StorageReason =
  | "full"
  /** Not full, but what one request brings has no place. */
  | "scarce"
  | "read_only"
  /** The file system's permissions, or credentials that were rejected. */
  | "denied"
  | "open_files"
  | "missing"
  /** Another file stands at its path: only a restart opens that. */
  | "replaced"
  | "io_error"
  | "out_of_memory"
  /**
   * The memory that PostgreSQL keeps for locks: of the whole server, so that whoever holds a transaction open for long
   * uses it up for all. It does not end the readiness, since reads go on.
   */
  | "lock_memory"
  /** PostgreSQL has no connection left. */
  | "connections"
  /** A page that is none: what does not need it is still answered. */
  | "damaged"
  /** Passes by itself: it does not end the readiness of the process. */
  | "overloaded"
  | "unreachable"
  | "silent"
  /** What writes has ended and is being started again. */
  | "stopped";

/** What is wrong with which part of the storage: lib/storage-fault.ts makes errors of it. */
export interface StorageFault {
  /** `disk`: the data folder itself, and temporary files. */
  part: "database" | "blobs" | "disk";
  reason: StorageReason;
  /** What the engine or the operating system said: for the log. */
  detail?: string;
}

/**
 * The details of an error besides its code and message. All of them may be shown to the caller, except `cause` and
 * `storage`.
 */
export interface ErrorDetails {
  /** The service area in ErrorInfo's domain: "iam", "registry", … Defaults to that of the called method. */
  area?: string;
  metadata?: Record<string, string>;
  fieldViolations?: FieldViolation[];
  preconditionViolations?: PreconditionViolation[];
  /** The required documents that are not accepted. */
  missingTerms?: { id: string; label: string; url: string }[];
  /** The resource that was not found or already exists: the message's full name and the uid or name. */
  resource?: { type: string; name: string };
  retryAfterMs?: number;
  /** The fault of the storage that it stands for: logged, counted, and shown by `/readyz` while it lasts. */
  storage?: StorageFault;
  cause?: unknown;
}

const REASONS: Record<Code, string> = {
  3: "INVALID_ARGUMENT",
  5: "NOT_FOUND",
  6: "ALREADY_EXISTS",
  7: "PERMISSION_DENIED",
  8: "RESOURCE_EXHAUSTED",
  9: "FAILED_PRECONDITION",
  10: "ABORTED",
  12: "UNIMPLEMENTED",
  13: "INTERNAL",
  14: "UNAVAILABLE",
  15: "DATA_LOSS",
  16: "UNAUTHENTICATED",
};

/**
 * The error that every service throws. Handlers translate it to their protocol; it knows nothing of HTTP. Source:
 * AIP-193.
 */
export class MoorageError extends Error {
  readonly code: Code;
  readonly details: ErrorDetails;

  constructor(code: Code, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = "MoorageError";
    this.code = code;
    this.details = details;
  }

  /** ErrorInfo.reason. */
  get reason(): string {
    return REASONS[this.code];
  }
}

/**
 * What a request that only reads is answered: UNAVAILABLE instead of ABORTED. What it writes on its way, such as the
 * grace of content or a copy from a source, may conflict; that is not the client's.
 */
export function unconflicted(error: unknown, method: string | undefined): unknown {
  const isRead = method === "GET" || method === "HEAD";
  if (!isRead || !(error instanceof MoorageError) || error.code !== Code.Aborted) return error;
  return new MoorageError(Code.Unavailable, "Unavailable: others change the same all the time", {
    cause: error,
    retryAfterMs: error.details.retryAfterMs ?? 1_000,
  });
}

/** One error with all violated fields; the first one is in the message. Source: docs/contract.md, "Errors". */
export function invalidArgument(...violations: FieldViolation[]): MoorageError {
  const first = violations[0];
  const message = first ? `Invalid argument: ${first.field}: ${first.description}` : "Invalid argument";
  return new MoorageError(Code.InvalidArgument, message, { fieldViolations: violations });
}

/** The resource does not exist or is not visible to the caller: the error is the same for both. */
export function notFound(type: string, name: string): MoorageError {
  return new MoorageError(Code.NotFound, `${type.slice(type.lastIndexOf(".") + 1)} not found: ${name}`, {
    resource: { type, name },
  });
}

export function alreadyExists(type: string, name: string): MoorageError {
  return new MoorageError(Code.AlreadyExists, `${type.slice(type.lastIndexOf(".") + 1)} already exists: ${name}`, {
    resource: { type, name },
  });
}

export function failedPrecondition(...violations: PreconditionViolation[]): MoorageError {
  return new MoorageError(
    Code.FailedPrecondition,
    `Precondition failed: ${violations.map((violation) => violation.description).join("; ")}`,
    { preconditionViolations: violations },
  );
}

/** FAILED_PRECONDITION for required documents that are not accepted, with a detail that lists them. */
export function termsNotAccepted(missing: readonly { id: string; label: string; url: string }[]): MoorageError {
  const { code, message, details } = failedPrecondition(
    ...missing.map(({ id, label, url }) => ({
      type: "TERMS_NOT_ACCEPTED",
      subject: id,
      description: `${label} is not accepted: ${url}`,
    })),
  );
  const missingTerms = missing.map(({ id, label, url }) => ({ id, label, url }));
  return new MoorageError(code, message, { ...details, missingTerms });
}

export function permissionDenied(message: string, metadata: Record<string, string> = {}): MoorageError {
  return new MoorageError(Code.PermissionDenied, `Permission denied: ${message}`, { metadata });
}

export function unauthenticated(message: string): MoorageError {
  return new MoorageError(Code.Unauthenticated, `Unauthenticated: ${message}`);
}

/** The form in which an error is sent from the writer thread to the handlers. */
export interface PlainError {
  code: Code;
  message: string;
  details: Omit<ErrorDetails, "cause">;
}

export function toPlain(error: MoorageError): PlainError {
  const { cause: _, ...details } = error.details;
  return { code: error.code, message: error.message, details };
}

export function fromPlain(plain: PlainError): MoorageError {
  return new MoorageError(plain.code, plain.message, plain.details);
}
