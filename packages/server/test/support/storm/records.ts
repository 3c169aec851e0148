/**
 * One request that a receiver of a storm got, as it wrote it down. Times are on the receivers' own clock, in
 * milliseconds.
 */
export interface Got {
  /** The path it came to, without the first slash: which receiver, and which of its subscriptions. */
  at: string;
  id: string;
  type: string;
  subject: string;
  group: string;
  sequence: number;
  /** Of the attributes and the body. Empty: the receiver did not read them to the end. */
  hash: string;
  /** What a tag came to point to, or what was pushed, and the tag; empty for all else. */
  digest: string;
  tag: string;
  /** From its headers until its answer was written, or its connection ended. */
  fromMs: number;
  toMs: number;
  /** What was answered; 0: nothing that HTTP knows. */
  status: number;
  /** What became of the verification of both proofs, where they were verified: `valid`, or why not. */
  proof?: string;
}

/** Where a subscription's proofs come from. */
export interface Trust {
  group: string;
  secret: string;
}

/** What the receivers are instruction. */
export type Instruction =
  { kind: "trust"; issuer: string; keys: { keys: object[] }; by: Record<string, Trust> } | { kind: "flush" };

/** What the receivers say: where they listen, and that everything until now is written down. */
export type Said = { say: "listening"; port: number } | { say: "flushed" };
