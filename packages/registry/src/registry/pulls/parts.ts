/** What was answered. */
export interface PulledContent {
  /** The repo's uid. */
  repo: string;
  /** The tag that was asked for; empty for a digest. */
  tag: string;
  digest: string;
  type: "manifest" | "blob";
}

/** A pull that was answered. */
export interface AnsweredPull {
  method: "GET" | "HEAD";
  /** Who pulled; empty without a log-in. */
  identity: string;
  /** Bytes that were sent, or that the client was sent elsewhere for. */
  bytes: number;
  /** When, in milliseconds since 1970. */
  nowMs: number;
}

/** Pulls of one content of a repo by one identity on one day. Times are in milliseconds since 1970. */
export interface CountedPulls {
  /** In days since 1970. */
  day: number;
  repo: string;
  /** Empty when it was asked for by digest. */
  tag: string;
  /** Empty for layers and configurations. */
  digest: string;
  /** Empty without a log-in. */
  identity: string;
  count: number;
  bytes: number;
  firstMs: number;
  lastMs: number;
}

/** When an identity last pulled or asked for a manifest by a tag, or by its digest (then `tag` is empty). */
export interface LastPull {
  repo: string;
  tag: string;
  digest: string;
  identity: string;
  timeMs: number;
}

/** What one transaction writes of what a process has counted. */
export interface CountedPart {
  /** Names the process that counts. */
  counter: string;
  /** `CountedPulls`, as JSON by their place: a text is sent to the writer thread and to the database as it is. */
  pulls: string;
  /** `LastPull`, in the same form. */
  last: string;
  /** How many pulls were lost, by day. */
  lost: readonly { day: number; pulls: number }[];
  /** Whether times of last pulls were lost, so that from now on it is known again what is pulled. */
  lostLast: boolean;
}

/** The text of a part that has none of these. */
export const NONE = "{}";

/** The most pulls, and the most last pulls, of one transaction. */
export const MAX_PART = 500;
