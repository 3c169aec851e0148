import { Code, MoorageError } from "@moorage/kernel/errors";
import { UNREADABLE_MS } from "./limits.ts";

/**
 * A document that could not be read in time, or with the memory that there is for one: UNAVAILABLE for a while, since
 * another attempt would end in the same way.
 */
export class ReadingError extends MoorageError {
  /** What it takes too much of, for people. */
  readonly fault: string;

  constructor(fault: string) {
    super(Code.Unavailable, `Unavailable: the document cannot be read: ${fault}`, { retryAfterMs: UNREADABLE_MS });
    this.fault = fault;
  }
}
