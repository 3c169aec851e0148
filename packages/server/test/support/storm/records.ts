/**
 * A receiver's record of one request. Times are in milliseconds on the receivers' clock.
 */
export interface Got {
  /** The path without the first slash: it names the receiver and one of its subscriptions. */
  at: string;
  id: string;
  type: string;
  subject: string;
  group: string;
  sequence: number;
  /** The hash of the attributes and the body; empty when the receiver did not read the body to its end. */
  hash: string;
  /** The new digest and the name of a tag, or the pushed digest and its tag; empty for other events. */
  digest: string;
  tag: string;
  /** From the receipt of the headers until the answer was written or the connection closed. */
  fromMs: number;
  toMs: number;
  /** The status of the answer; 0 without a valid HTTP answer. */
  status: number;
  /** The result of verifying token and signature: `valid` or the error; empty or undefined when not verified. */
  proof?: string;
}

/** The data that verifies a subscription's tokens and signatures. */
export interface Trust {
  group: string;
  secret: string;
}

/** A message to the receivers' process. */
export type Instruction =
  | { kind: "trust"; issuer: string; keys: { keys: object[] }; by: Record<string, Trust> }
  | { kind: "flush" };

/** A message from the receivers' process: the port that it listens on, or that all records so far are written. */
export type Said = { say: "listening"; port: number } | { say: "flushed" };
