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

/** When a manifest was last pulled or asked for by a tag, or by its digest (then `tag` is empty). */
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
  pulls: readonly CountedPulls[];
  last: readonly LastPull[];
  /** How many pulls were lost, by day. */
  lost: readonly { day: number; pulls: number }[];
  /** Whether times of last pulls were lost, so that from now on it is known again what is pulled. */
  lostLast: boolean;
}

/** The most pulls, and the most last pulls, of one transaction. */
export const MAX_PART = 200;
