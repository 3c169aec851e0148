import { setTimeout as wait } from "node:timers/promises";
import { Code, MoorageError } from "../errors.ts";

/** A failure that a retry may fix: transactions that collided, or a connection that ended. */
export class TransientError extends Error {
  readonly kind: "collision" | "connection";

  constructor(kind: "collision" | "connection", cause: unknown) {
    super(kind === "collision" ? "transactions collided" : "the connection to the database ended", { cause });
    this.kind = kind;
  }
}

// SQLSTATE codes. Source: PostgreSQL's documentation, appendix A. 25006: the server became a standby; 53300: it has no
// connection left; 0A000: a plan from before a migration.
const COLLISIONS: ReadonlySet<string> = new Set(["40001", "40P01"]);
const CONNECTION_ENDS: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "25006", "53300"]);
const TIME_OUTS: ReadonlySet<string> = new Set(["57014", "55P03", "25P03"]);
const FULL: ReadonlySet<string> = new Set(["53100", "53200"]);
const SYSTEM_ERRORS: ReadonlySet<string> = new Set([
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
const CLIENT_MESSAGES =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout expired|Query read timeout|server closed the connection|The server does not support)/;

/**
 * Translates an error of PostgreSQL's client: to a TransientError, a MoorageError for the caller, or the error itself.
 */
export function meaningOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (COLLISIONS.has(code) || (code === "0A000" && error.message.includes("cached plan")))
    return new TransientError("collision", error);
  if (
    CONNECTION_ENDS.has(code) ||
    code.startsWith("08") ||
    SYSTEM_ERRORS.has(code) ||
    CLIENT_MESSAGES.test(error.message)
  )
    return new TransientError("connection", error);
  if (error instanceof AggregateError && error.errors.every((each) => meaningOf(each) instanceof TransientError))
    return new TransientError("connection", error);
  if (TIME_OUTS.has(code) || error.message.startsWith("timeout exceeded when trying to connect"))
    return unavailable("the database is too busy", error);
  if (FULL.has(code))
    return new MoorageError(Code.ResourceExhausted, "Resource exhausted: storage is full", {
      cause: error,
      retryAfterMs: 60_000,
    });
  return error;
}

export function unavailable(message: string, cause: unknown): MoorageError {
  return new MoorageError(Code.Unavailable, `Unavailable: ${message}`, { cause, retryAfterMs: 1000 });
}

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 500;

/**
 * Runs the work until it succeeds, fails for good, or `windowMs` have passed since the first attempt, or for collisions
 * since the first collision. The pauses grow and are random, so that transactions that collided do not meet again. Then
 * throws ABORTED for collisions, UNAVAILABLE for connections.
 */
export async function retried<T>(
  windowMs: number,
  work: () => Promise<T>,
  onRetry: (kind: TransientError["kind"]) => void = () => {},
): Promise<T> {
  const startedMs = performance.now();
  let collidedMs: number | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TransientError)) throw error;
      const nowMs = performance.now();
      const sinceMs = error.kind === "collision" ? (collidedMs ??= nowMs) : startedMs;
      if (nowMs + pauseMs > sinceMs + windowMs) throw forCaller(error);
      onRetry(error.kind);
      await wait(pauseMs * (0.5 + Math.random()));
    }
  }
}

function forCaller(error: TransientError): MoorageError {
  if (error.kind === "connection") return unavailable("the database cannot be reached", error);
  return new MoorageError(Code.Aborted, "Aborted: others change the same all the time", {
    cause: error,
    retryAfterMs: 1000,
  });
}
