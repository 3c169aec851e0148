import { UpstreamError } from "./errors.ts";

/** What of the referrers of copied images did not come: the images come all the same. */
export interface ReferrerGaps {
  /** Records why referrers of an image did not come. Rethrows errors that do not come from the source. */
  note(error: unknown, signal: AbortSignal): void;
  /** Records that the referrers of an image could be listed. */
  listed(): void;
  /**
   * Whether to list no more: the source failed several times in a row. Records that those of one more image were not
   * looked at.
   */
  givesUp(): boolean;
  /** How often something was recorded, and why at last. */
  readonly count: number;
  readonly last: string;
}

// Each failed list takes time, which the images would wait for.
const MAX_IN_A_ROW = 3;

export function createReferrerGaps(): ReferrerGaps {
  let count = 0;
  let last = "";
  let inARow = 0;
  return {
    note(error, signal) {
      if (!(error instanceof UpstreamError) || signal.aborted) throw error;
      count += 1;
      last = error.message;
      inARow = error.kind === "limited" || error.kind === "unreachable" ? inARow + 1 : 0;
    },
    listed() {
      inARow = 0;
    },
    givesUp() {
      if (inARow < MAX_IN_A_ROW) return false;
      count += 1;
      return true;
    },
    get count() {
      return count;
    },
    get last() {
      return last;
    },
  };
}
