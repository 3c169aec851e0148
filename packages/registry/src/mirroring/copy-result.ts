import { SyncState } from "@moorage/api/messages";
import type { UpstreamError } from "./errors.ts";

/** Why a followed tag is not here as it is at the source; also a label of metrics. */
export type TagFailure = "missing" | "wrong" | "refused" | "unreachable" | "policy";

/** A followed tag that could not be copied. */
export interface FailedTag {
  tag: string;
  failure: TagFailure;
  /** For the operator. */
  reason: string;
}

/** The result of copying a repo's tags. */
export interface CopyResult {
  /** SUCCEEDED: every tag that is followed is here. */
  state: typeof SyncState.SUCCEEDED | typeof SyncState.FAILED | typeof SyncState.RATE_LIMITED;
  /** What went wrong or is worth knowing, for the operator; empty when nothing is. */
  message: string;
  /** Whether the source has no tag to follow, which is neither a success nor a failure. */
  isEmpty?: boolean;
  /** The number of tags followed. Undefined when the list could not be read. */
  tagsSeen?: number;
  /** How many of them are not here as they are at the source, for whatever reason; only where tagsSeen is. */
  tagsMissing?: number;
  /** The tags that could not be copied: the first of them, and how many there are. */
  failed: FailedTag[];
  failedCount: number;
  /** How many tags could not be copied for which reason, and how many came without all referrers. */
  counts: ReadonlyMap<TagFailure | "referrers", number>;
  /** How long the source asked not to be sent requests, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** What ended the copying early, or kept the list from being read to its end. */
  error?: UpstreamError;
}

/** Names in one sentence, of which only the first are listed. */
export interface NameList {
  add(name: string): void;
  readonly count: number;
  /** A sentence such as `2 tags …: a, b`; empty when nothing was added. */
  text(noun: string, what: string): string;
}

const MAX_LISTED = 5;
/** How many failed tags a result names. */
export const MAX_FAILED = 20;

export function createNameList(): NameList {
  const listed: string[] = [];
  let count = 0;
  return {
    add(name) {
      count += 1;
      if (listed.length < MAX_LISTED) listed.push(name);
    },
    get count() {
      return count;
    },
    text(noun, what) {
      if (count === 0) return "";
      const more = count > listed.length ? `, and ${count - listed.length} more` : "";
      return `${count} ${noun}${count === 1 ? "" : "s"} ${what}: ${listed.join(", ")}${more}`;
    },
  };
}

/** A result that no tag has part in: the source, its list, or this server is at fault. */
export function failedResult(message: string): CopyResult {
  return { state: SyncState.FAILED, message, failed: [], failedCount: 0, counts: new Map() };
}
