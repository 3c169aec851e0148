// What commands throw: an error in one line, with the way on and the exit code.
import { EXIT } from "./exit-codes.ts";
import { printable } from "../printable.ts";

/** What a failure carries besides its message. */
export interface FailureOptions {
  /** The exit code, one of EXIT; 1 unless given. */
  exit?: number;
  /** The field or flag that is wrong; it leads the message. */
  field?: string;
  /** What to do, for people; printed after the message. */
  hint?: string;
  cause?: unknown;
}

/** A failed command. `moorage` prints the message as one line on standard error and ends with `exit`. */
export class Failure extends Error {
  readonly exit: number;
  readonly hint: string | undefined;

  constructor(message: string, { exit = EXIT.error, field, hint, cause }: FailureOptions = {}) {
    super(field === undefined ? message : `${field}: ${message}`, cause === undefined ? {} : { cause });
    this.exit = exit;
    this.hint = hint;
  }
}

/** The command line is wrong. */
export class UsageFailure extends Failure {
  constructor(message: string, options: Omit<FailureOptions, "exit"> = {}) {
    super(message, { ...options, exit: EXIT.usage });
  }
}

/** The line for an error without the program's name: the message, and after `; ` what to do. */
export function lineOf(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).split("\n").map((line) => line.trim());
  // Much of it is what a server says.
  const message = printable(lines.filter((line) => line !== "").join(" "));
  const hint = error instanceof Failure ? error.hint : undefined;
  return hint === undefined ? message : `${message}; ${printable(hint)}`;
}

// A flag with a wrong value, as the server's settings and older commands name it: `--grace: must be …`.
const NAMES_FLAG = /^--[a-z][a-z-]*: /;

/** The exit code for an error. */
export function exitOf(error: unknown): number {
  if (error instanceof Failure) return error.exit;
  if (!(error instanceof Error)) return EXIT.error;
  if (NAMES_FLAG.test(error.message)) return EXIT.usage;
  // What fetch rejects with when there is no connection, and what its time-out rejects with.
  if (error.name === "TimeoutError" || (error instanceof TypeError && error.message === "fetch failed"))
    return EXIT.unavailable;
  return EXIT.error;
}
