import { setTimeout as wait } from "node:timers/promises";
import { Code, MoorageError, type StorageReason } from "../errors.ts";
import { fileFault, storageFault } from "../lib/storage-fault.ts";
import { meaningOfSqlState } from "./sql-states.ts";

const KINDS = {
  collision: "transactions collided",
  connection: "the connection to the database ended",
  shortage: "the database lacks something for now",
} as const;

/**
 * A failure that a retry may fix: transactions that collided, a connection that ended, or a database that lacks
 * something that others give back.
 */
export class TransientError extends Error {
  readonly kind: keyof typeof KINDS;
  /** The fault that remains when retries do not help; none for collisions. */
  readonly reason: StorageReason | undefined;
  /**
   * Whether it may be a defect as well, such as a key that is inserted although it is there: then retries are few, and
   * what remains is the cause.
   */
  readonly mayBeDefect: boolean;

  constructor(kind: keyof typeof KINDS, cause: unknown, reason?: StorageReason, mayBeDefect = false) {
    super(KINDS[kind], { cause });
    this.kind = kind;
    this.reason = kind === "collision" ? undefined : (reason ?? "unreachable");
    this.mayBeDefect = mayBeDefect;
  }
}

const UNREACHABLE: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT",
]);
// Of the client for PostgreSQL.
const SILENT = /^(?:timeout expired|Query read timeout)/;
const ENDED =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|server closed the connection|The server does not support)/;
const NO_CONNECTION_FREE = "timeout exceeded when trying to connect";

/**
 * Translates an error of PostgreSQL's client: to a TransientError, a MoorageError for the caller, or the error itself
 * when it is a defect.
 */
export function meaningOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof MoorageError || error instanceof TransientError) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const meaning = meaningOfSqlState(code, error.message);
  if (meaning?.retry !== undefined)
    return new TransientError(meaning.retry, error, meaning.reason, meaning.mayBeDefect);
  if (meaning?.reason !== undefined) return databaseFault(meaning.reason, error);
  if (SILENT.test(error.message)) return new TransientError("connection", error, "silent");
  if (UNREACHABLE.has(code) || ENDED.test(error.message)) return new TransientError("connection", error);
  if (error.message.startsWith(NO_CONNECTION_FREE)) return unavailable("the database is too busy", error);
  // Of this machine: too many open files, for one.
  const local = fileFault(error);
  if (local !== undefined) return new TransientError("connection", error, local);
  if (error instanceof AggregateError && error.errors.every((each) => meaningOf(each) instanceof TransientError))
    return new TransientError("connection", error);
  return error;
}

/** The error of a database that cannot do its work for now. */
function databaseFault(reason: StorageReason, cause: unknown): MoorageError {
  return storageFault({ part: "database", reason }, cause);
}

export function unavailable(message: string, cause: unknown): MoorageError {
  return new MoorageError(Code.Unavailable, `Unavailable: ${message}`, { cause, retryAfterMs: 1000 });
}

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 500;
/** How often at most work is done again after what may be a defect. */
const MOST_DOUBTS = 5;

/**
 * Runs the work until it succeeds, fails for good, or `windowMs` have passed since the first attempt, or for collisions
 * and shortages since the first of them. The pauses grow and are random, so that transactions that collided do
 * not meet again. Then throws ABORTED for collisions, and the fault for the others. What may be a defect is retried a
 * few times; then its cause is thrown.
 */
export async function retried<T>(
  windowMs: number,
  work: () => Promise<T>,
  onRetry: (kind: TransientError["kind"]) => void = () => {},
): Promise<T> {
  const startedMs = performance.now();
  let firstMs: number | undefined;
  let doubts = 0;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TransientError)) throw error;
      if (error.mayBeDefect && (doubts += 1) > MOST_DOUBTS) throw error.cause;
      const nowMs = performance.now();
      const sinceMs = error.kind === "connection" ? startedMs : (firstMs ??= nowMs);
      if (nowMs + pauseMs > sinceMs + windowMs) throw forCaller(error);
      onRetry(error.kind);
      await wait(pauseMs * (0.5 + Math.random()));
    }
  }
}

function forCaller(error: TransientError): MoorageError {
  if (error.reason !== undefined) return databaseFault(error.reason, error.cause);
  return new MoorageError(Code.Aborted, "Aborted: others change the same all the time", {
    cause: error,
    retryAfterMs: 1000,
  });
}
