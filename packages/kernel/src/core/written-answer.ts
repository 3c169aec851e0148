const WRITTEN: unique symbol = Symbol("written");

/** The forms in which answers are sent: JSON as REST has it, or a message of Protocol Buffers. */
export type AnswerForm = "json" | "binary";

/** A large answer that another process has made, as the bytes in which it is sent. */
export interface Written {
  readonly [WRITTEN]: true;
  form: AnswerForm;
  bytes: Uint8Array;
  /** Its entity tag, in the form of JSON. */
  etag: string;
  /** Gives its memory back. Called once it was sent, or is not wanted. */
  release(): void;
}

export function isWritten(answer: object): answer is Written {
  return WRITTEN in answer;
}

export function written(answer: Omit<Written, typeof WRITTEN>): Written {
  return { [WRITTEN]: true, ...answer };
}

/** The most rows of one step in a thread that others wait for: some 30 ms. See `Call.weigh`. */
export const MAX_ROWS_HERE = 1_000;

/**
 * Thrown by `Call.weigh` of a call that must not take so much of this thread. The call itself has not failed: dispatch
 * has the call answered by another process.
 */
export class TooHeavyHere extends Error {
  readonly rows: number;

  constructor(rows: number) {
    super(`${rows} rows are too many for this thread`);
    this.rows = rows;
  }
}
