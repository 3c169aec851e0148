import { Code, MoorageError, type StorageFault, type StorageReason } from "../errors.ts";
import { errorCode } from "./error-code.ts";

const PARTS: Readonly<Record<StorageFault["part"], string>> = {
  database: "the database",
  blobs: "the blob store",
  disk: "the data folder",
};
const REASONS: Readonly<Record<StorageReason, string>> = {
  full: "is full",
  scarce: "has too little space for what was to be stored",
  read_only: "is read-only",
  denied: "denies access",
  open_files: "cannot be opened: too many files are open",
  missing: "is not there",
  replaced: "has been replaced by another",
  io_error: "has input and output errors",
  out_of_memory: "is out of memory",
  lock_memory: "is out of memory for locks",
  connections: "has no connection left",
  damaged: "is damaged",
  overloaded: "is too busy",
  unreachable: "cannot be reached",
  silent: "does not answer",
  stopped: "takes no writes",
};

// With these the others that share the store are no better off, and much is still answered; what is damaged is known to
// more than this (boot/health.ts).
const PASSING: ReadonlySet<StorageReason> = new Set(["scarce", "overloaded", "lock_memory", "connections", "damaged"]);

// A full store has space again when somebody makes some; the others may come back by themselves.
const RETRY_FULL_MS = 60_000;
const RETRY_MS = 5_000;
const MAX_DETAIL = 500;
/**
 * What whoever writes gets to read while a store is full. Docker repeats a push five times, unless its error has these
 * words of operating systems for a full disk.
 */
export const FULL = "storage is full: no space left on device; whoever runs the server has to make space";

/** The fault in a few words, as `/readyz` and the log say it: "the database is read-only". */
export function describeFault({ part, reason }: StorageFault): string {
  return `${PARTS[part]} ${REASONS[reason]}`;
}

/** Whether a process with this fault is not ready. Otherwise it is only logged and counted. */
export function endsReadiness({ reason }: StorageFault): boolean {
  return !PASSING.has(reason);
}

/**
 * The error of a store that cannot do its work for now: RESOURCE_EXHAUSTED when it lacks space, otherwise UNAVAILABLE,
 * with a retry delay and the fault in `details.storage`.
 */
export function storageFault(fault: StorageFault, cause: unknown, retryAfterMs?: number): MoorageError {
  const detail = fault.detail ?? detailOf(cause);
  const details = { cause, storage: { ...fault, ...(detail !== undefined && { detail }) } };
  if (fault.reason === "full" || fault.reason === "scarce")
    return new MoorageError(Code.ResourceExhausted, `Resource exhausted: ${FULL}`, {
      ...details,
      retryAfterMs: retryAfterMs ?? RETRY_FULL_MS,
    });
  return new MoorageError(Code.Unavailable, `Unavailable: ${describeFault(fault)}`, {
    ...details,
    retryAfterMs: retryAfterMs ?? RETRY_MS,
  });
}

// The cause itself does not leave the writer thread.
function detailOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  return ("code" in cause ? `${String(cause.code)}: ` : "").concat(cause.message).slice(0, MAX_DETAIL);
}

/** The fault that an error stands for; undefined when it stands for none. */
export function faultIn(error: unknown): StorageFault | undefined {
  return error instanceof MoorageError ? error.details.storage : undefined;
}

/** Whether the error says that a store lacks the space for what was to be written. */
export function lacksSpace(error: unknown): boolean {
  const reason = faultIn(error)?.reason;
  return reason === "full" || reason === "scarce";
}

// Codes that mean the same whatever was opened, read or written.
const CERTAIN: Readonly<Record<string, StorageReason>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EROFS: "read_only",
  EMFILE: "open_files",
  ENFILE: "open_files",
  EIO: "io_error",
  ESTALE: "io_error",
  ENXIO: "io_error",
  ENODEV: "io_error",
  ENOMEM: "out_of_memory",
};
// Codes that mean this for a store's own files, and something else for sockets, for example.
const OF_STORES: Readonly<Record<string, StorageReason>> = {
  EACCES: "denied",
  EPERM: "denied",
  ENOTDIR: "missing",
  EISDIR: "io_error",
  ELOOP: "io_error",
  EFBIG: "io_error",
  ETIMEDOUT: "silent",
  ENOTCONN: "unreachable",
  EHOSTDOWN: "unreachable",
  ESHUTDOWN: "unreachable",
};

/**
 * Why the operating system failed to do something with a file of a store; undefined for errors that are no fault of it.
 * A missing file is none: the caller knows whether it may be missing.
 */
export function fileFault(error: unknown): StorageReason | undefined {
  const code = errorCode(error);
  return typeof code === "string" ? (CERTAIN[code] ?? OF_STORES[code]) : undefined;
}

/**
 * The error to answer instead of one that nobody expected, where its code alone says that the machine's storage is at
 * fault: too many open files, a read-only disk. Undefined for all others, and for errors that are translated already.
 */
export function unexpectedFault(error: unknown): MoorageError | undefined {
  if (error instanceof MoorageError) return undefined;
  const code = errorCode(error);
  const reason = typeof code === "string" ? CERTAIN[code] : undefined;
  return reason === undefined ? undefined : storageFault({ part: "disk", reason }, error);
}
