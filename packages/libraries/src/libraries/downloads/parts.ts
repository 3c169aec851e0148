/** A version that a client downloaded a file of. */
export interface DownloadedVersion {
  /** The uid of the library. */
  artifact: string;
  /** The uid of the version. */
  version: string;
}

/** Downloads of a version by an identity on one day. */
export interface CountedDownloads extends DownloadedVersion {
  /** In days since 1970. */
  day: number;
  /** Empty without a log-in. Only to leave out those that are not counted. */
  identity: string;
  count: number;
  /** The last of them, in milliseconds since 1970. */
  lastMs: number;
}

/** What one transaction writes of what a process has counted. */
export interface DownloadPart {
  /** Names the process that counts. */
  counter: string;
  /** `CountedDownloads`, as JSON by their place. */
  downloads: string;
  /** How many downloads were lost, by day. */
  lost: readonly { day: number; count: number }[];
}

/** The text of a part that has none. */
export const NONE = "{}";

/** The most sums of one transaction. */
export const MAX_PART = 500;
